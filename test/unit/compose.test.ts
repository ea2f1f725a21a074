import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import { readTelemetry } from "../../worker/telemetry/settings.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, "utf8");

const serviceSchema = z.strictObject({
  image: z.string(),
  build: z.string().optional(),
  restart: z.enum(["unless-stopped", "on-failure:5"]),
  init: z.boolean().optional(),
  stop_grace_period: z.string().optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  entrypoint: z.array(z.string()).optional(),
  healthcheck: z
    .strictObject({
      test: z.tuple([z.literal("CMD")], z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string(),
    })
    .optional(),
});

// Strict: a key that this list does not know, such as the obsolete `version`, is a fault.
const compose = z
  .strictObject({
    name: z.string(),
    services: z.record(z.string(), serviceSchema),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(read("docker-compose.yml")));

const services = Object.entries(compose.services);

function toService(name: string) {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

describe("docker-compose.yml", () => {
  test("images are pinned, and server and schema have one version", () => {
    const images = Object.fromEntries(services.map(([name, { image }]) => [name, image]));
    expect(images).toEqual({
      postgresql: "postgres:16",
      schema: "temporalio/admin-tools:1.32.0",
      temporal: "temporalio/server:1.32.0",
      namespace: "temporalio/admin-tools:1.32.0",
      ui: "temporalio/ui:2.54.1",
      worker: "temporal-subagents",
    });
    expect(toService("worker").build).toBe(".");
  });

  test("every dependency names a service and a condition that it can meet", () => {
    for (const [name, { depends_on: dependencies }] of services) {
      for (const [needed, { condition }] of Object.entries(dependencies)) {
        const service = toService(needed);
        // A service that is to end must not be started again, and one that is to be healthy must have a check.
        const isOneShot = service.restart === "on-failure:5";
        const met = isOneShot ? "service_completed_successfully" : service.healthcheck && "service_healthy";
        expect([name, needed, condition]).toEqual([name, needed, met]);
      }
    }
  });

  test("nothing is used before what it needs is ready", () => {
    const order = (name: string) => Object.keys(toService(name).depends_on);
    expect(order("schema")).toEqual(["postgresql"]);
    expect(order("temporal")).toEqual(["postgresql", "schema"]);
    expect(order("namespace")).toEqual(["temporal"]);
    expect(order("ui")).toEqual(["temporal"]);
    expect(order("worker")).toEqual(["namespace"]);
  });

  test("data outlive their containers: databases and state lie in named volumes", () => {
    expect(toService("postgresql").volumes).toEqual(["postgresql:/var/lib/postgresql/data"]);
    expect(toService("worker").volumes).toContain("state:/state");
    expect(Object.keys(compose.volumes).sort()).toEqual(["postgresql", "state"]);
  });

  test("files that are mounted exist, read-only, and scripts can be run", () => {
    const mounts = services.flatMap(([, { volumes }]) => volumes).filter((volume) => volume.startsWith("./"));
    expect(mounts).toHaveLength(3);
    for (const mount of mounts) {
      const [file = "", , mode] = mount.split(":");
      expect(mode).toBe("ro");
      expect(existsSync(`${root}${file}`)).toBe(true);
      if (file.endsWith(".sh")) {
        expect(statSync(`${root}${file}`).mode & 0o111).toBe(0o111);
        execFileSync("sh", ["-n", `${root}${file}`]);
      }
    }
  });

  test("only this machine reaches the ports", () => {
    const ports = services.flatMap(([, service]) => service.ports);
    expect(ports).toEqual(["127.0.0.1:7233:7233", "127.0.0.1:8080:8080"]);
  });

  test("providers' keys reach the worker alone, and none is written down", () => {
    for (const [name, { environment }] of services) {
      const keys = Object.entries(environment).filter(([variable]) => variable.endsWith("_API_KEY"));
      expect(keys.length > 0).toBe(name === "worker");
      expect(keys.filter(([, value]) => value !== null)).toEqual([]);
    }
  });

  test("workers trace and measure nothing unless the host's environment asks for it", () => {
    const { environment } = toService("worker");
    const toEnvironment = (host: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(environment).flatMap(([name, value]) => {
          const given =
            value === null ? host[name] : value.replace(/^\$\{(\w+):-([^}]+)\}$/, host[name] ?? "$2");
          return given === undefined ? [] : [[name, given]];
        }),
      );
    expect(readTelemetry(toEnvironment({}), false)).toMatchObject({ traces: undefined, metrics: undefined });
    const asked = {
      OTEL_METRICS_EXPORTER: "prometheus",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    };
    expect(readTelemetry(toEnvironment(asked), false)).toMatchObject({
      traces: { url: "http://collector:4318/v1/traces" },
      metrics: { host: "0.0.0.0", port: 9464 },
    });
    // A command in a worker's container has the flag to itself.
    expect(readTelemetry(toEnvironment({}), true).metrics).toMatchObject({ host: "0.0.0.0", port: 9464 });
  });

  test("workers are given every variable of telemetry that the manual names, and it names every one that is read", () => {
    const rows = read("docs/telemetry.md").match(/^\| `OTEL_.*$/gm) ?? [];
    const named = rows.flatMap((row) => row.split("|")[1]?.match(/OTEL_[A-Z_]+/g) ?? []);
    const passedOn = Object.keys(toService("worker").environment).filter((name) => name.startsWith("OTEL_"));
    expect(passedOn.toSorted()).toEqual(named.toSorted());
    const asked = new Set<string>();
    const looks = [{ OTEL_METRICS_EXPORTER: "otlp" }, { OTEL_TRACES_SAMPLER: "traceidratio" }];
    for (const look of looks) {
      const get = (values: Record<string, string>, name: string) => {
        asked.add(name);
        return values[name];
      };
      readTelemetry(new Proxy(look, { get } as ProxyHandler<typeof look>) as Record<string, string>, true);
    }
    expect([...asked].filter((name) => !named.includes(name))).toEqual([]);
    // Files of certificates are read by the exporter itself.
    const unread = named.filter((name) => !asked.has(name) && !/CERTIFICATE|CLIENT_KEY/.test(name));
    expect(unread).toEqual([]);
  });

  test("the server reads the flags that push a cancellation at once", () => {
    const { environment, volumes } = toService("temporal");
    const file = environment.DYNAMIC_CONFIG_FILE_PATH;
    expect(volumes).toEqual([`./deploy/dynamic-config.yaml:/etc/temporal/${file}:ro`]);
    expect(parse(read("deploy/dynamic-config.yaml"))).toEqual({
      "frontend.WorkerCommandsEnabled": [{ value: true }],
      "system.enableCancelActivityWorkerCommand": [{ value: true }],
    });
  });

  test("the search attributes that workflows set are created", () => {
    const script = read("deploy/set-up-namespace.sh");
    for (const { name } of SEARCH_ATTRIBUTES) {
      expect(script).toContain(`persist make_search_attribute ${name}\n`);
      expect(script).toContain(`${name} = "none"`);
    }
  });
});

describe("Dockerfile", () => {
  const lines = read("Dockerfile").split("\n");

  test("the worker runs as a user, in the workspace, with its state in a volume", () => {
    const last = (word: string) => lines.findLast((line) => line.startsWith(`${word} `));
    expect(last("USER")).toBe("USER node");
    expect(last("VOLUME")).toBe("VOLUME /state");
    expect(last("WORKDIR")).toBe("WORKDIR /workspace");
    expect(last("CMD")).toBe('CMD ["subagents", "worker"]');
    expect(lines.filter((line) => line.startsWith("FROM "))).toEqual([
      "FROM node:24-slim AS packages",
      "FROM node:24-slim",
    ]);
  });

  test("what is copied exists and is not left out of the build", () => {
    const copied = lines
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(" ").slice(1, -1));
    const allowed = read(".dockerignore").split("\n");
    for (const file of copied) {
      expect(existsSync(`${root}${file}`)).toBe(true);
      expect(allowed).toContain(`!${file}`);
    }
    expect(copied).toEqual(expect.arrayContaining(["core", "workflows", "activities", "worker", "client"]));
    // What `run --example` and the catalogue read beside the code.
    expect(copied).toEqual(expect.arrayContaining(["agents", "examples"]));
  });
});
