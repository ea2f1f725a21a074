import type { Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import { toErrorText } from "../server/server-error.ts";
import type { ServerQuestions } from "./check-server.ts";
import { type Finding, ok, warning } from "./finding.ts";
import type { FoundServer } from "./look-for-server.ts";
import { toTemporalCommand } from "./temporal-command.ts";

const { IndexedValueType } = proto.temporal.api.enums.v1;
const CHECK = "search attributes";

/** See that the attributes by which sessions and delegates are found are registered, and of the right type. */
export async function checkSearchAttributes(
  connection: Connection,
  server: FoundServer,
  { temporal }: Pick<ServerQuestions, "temporal">,
): Promise<Finding[]> {
  const { namespace } = server;
  const toCommand = (action: "create" | "remove", name: string) => {
    const type = action === "create" ? ["--type", "Keyword"] : ["--yes"];
    const words = ["operator", "search-attribute", action, "--name", name, ...type];
    return toTemporalCommand(temporal, words, server);
  };
  let registered: Record<string, number | null | undefined>;
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    registered = customAttributes ?? {};
  } catch (error) {
    const text = `they can't be listed: ${toErrorText(error)}`;
    return [
      warning(
        CHECK,
        text,
        "everything works without them; see that they are registered if you filter by them",
      ),
    ];
  }
  const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
  const wrong = names.filter(
    (name) =>
      ![undefined, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD].includes(registered[name] ?? undefined),
  );
  const missing = names.filter((name) => registered[name] === undefined);
  return [
    ...wrong.map((name) =>
      warning(
        CHECK,
        `${name} is registered as ${toTypeName(registered[name])}, not as Keyword: sessions work without these attributes, and can't be found by them`,
        `nothing, if something else uses it; else remove it and register it anew: ${toCommand("remove", name)}; ${toCommand("create", name)}`,
      ),
    ),
    ...(missing.length === 0
      ? []
      : [
          warning(
            CHECK,
            `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not registered`,
            `the next command registers them where that is allowed; else: ${missing.map((name) => toCommand("create", name)).join("; ")}`,
          ),
        ]),
    ...(wrong.length + missing.length === 0 ? [ok(CHECK, `${names.join(" and ")} are registered`)] : []),
  ];
}

/** INDEXED_VALUE_TYPE_KEYWORD_LIST is known as KeywordList. */
function toTypeName(type: number | null | undefined): string {
  const name = (IndexedValueType[type ?? 0] ?? "").replace("INDEXED_VALUE_TYPE_", "").toLowerCase();
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
