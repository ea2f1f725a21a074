import type { Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import { toErrorText } from "../server/server-error.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const { IndexedValueType } = proto.temporal.api.enums.v1;
const CHECK = "search attributes";

/** See that the attributes by which sessions and delegates are found are registered, and of the right type. */
export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Finding[]> {
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
      problem(
        CHECK,
        `${name} is registered as ${toTypeName(registered[name])}, not as Keyword: none of them is used`,
        `remove it (temporal operator search-attribute remove --name ${name}) and register it as Keyword`,
      ),
    ),
    ...(missing.length === 0
      ? []
      : [
          warning(
            CHECK,
            `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not registered`,
            `the next command registers them where that is allowed; else: ${missing.map((name) => `temporal operator search-attribute create --name ${name} --type Keyword`).join("; ")}`,
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
