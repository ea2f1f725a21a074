import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { refuseValue } from "./environment.ts";

/** Where a worker's metrics are read. */
export interface MetricsEndpoint {
  /** As the SDK wants it: an address and a port, no name. */
  bindAddress: string;
  /** As a scraper is told it. */
  url: string;
  /** What a person should know of it. */
  warning: string | undefined;
}

/**
 * Find a free port for the metrics of this process: the one named, or any where that one is taken.
 *
 * Several workers may share a host and its environment; one whose metrics find no place where they were expected works all the same, and says where they are.
 *
 * @throws ConfigurationError where the host is no address of this machine.
 */
export async function findMetricsEndpoint(host: string, port: number): Promise<MetricsEndpoint> {
  const { address, family } = await lookup(host, { order: "ipv4first" }).catch(() =>
    refuseHost(host, "it can't be resolved"),
  );
  const free = await findFreePort(address, port).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE") return undefined;
    if (error.code === "EACCES")
      return refuseValue(
        "OTEL_EXPORTER_PROMETHEUS_PORT",
        String(port),
        "this user may not listen on such a low port",
      );
    return refuseHost(host, "nothing can listen there");
  });
  const found = free ?? (await findFreePort(address, 0));
  const shown = family === 6 ? `[${address}]` : address;
  const url = `http://${family === 6 ? shown : host}:${found}/metrics`;
  return {
    bindAddress: `${shown}:${found}`,
    url,
    warning:
      free === undefined
        ? `port ${port} of ${host} is taken: this worker's metrics are at ${url}`
        : undefined,
  };
}

async function findFreePort(host: string, port: number): Promise<number> {
  const probe = createServer().listen({ host, port });
  await once(probe, "listening");
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return found;
}

function refuseHost(host: string, why: string): never {
  return refuseValue("OTEL_EXPORTER_PROMETHEUS_HOST", host, `${why}: it must be an address of this machine`);
}
