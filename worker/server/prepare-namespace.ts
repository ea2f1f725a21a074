import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import { ALREADY_EXISTS, hasGrpcCode } from "./probe-server.ts";
import { toErrorText } from "./server-error.ts";

/** Sessions that have ended can be looked at this long on a server of our own; Temporal's default is a day. */
const RETENTION_DAYS = 30;
const DAY_SECONDS = 86_400;
/** The values of temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;
/** A server's parts notice a new search attribute one after the other. */
const USABLE_TIMEOUT_MS = 20_000;
const POLL_MS = 250;

/** Make a namespace of our own server and keep what has ended there for 30 days. A no-op where that is so. */
export async function makeNamespace(connection: Connection, namespace: string): Promise<void> {
  const { workflowService } = connection;
  const retention = msToTs(`${RETENTION_DAYS}d`);
  try {
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
  } catch (error) {
    if (!hasGrpcCode(error, ALREADY_EXISTS)) throw error;
    const { config } = await workflowService.describeNamespace({ namespace });
    if (Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) >= RETENTION_DAYS * DAY_SECONDS) return;
    await workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: retention },
    });
  }
}

/**
 * Register the search attributes that are missing, where that is allowed, and say whether all can be used now.
 * A refusal is harmless: everything works without them, except finding by them in Temporal Web.
 */
export async function hasUsableSearchAttributes(
  connection: Connection,
  namespace: string,
  log: (line: string) => void,
): Promise<boolean> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const wrong = SEARCH_ATTRIBUTES.find(({ name }) => (customAttributes?.[name] ?? KEYWORD) !== KEYWORD);
    if (wrong !== undefined) throw new Error(`${wrong.name} is registered with another type than Keyword`);
    const missing = SEARCH_ATTRIBUTES.filter(({ name }) => customAttributes?.[name] === undefined);
    if (missing.length > 0) await register(connection, namespace, missing);
    return true;
  } catch (error) {
    log(`search attributes are not used in namespace ${namespace}: ${toErrorText(error)}`);
    return false;
  }
}

async function register(
  connection: Connection,
  namespace: string,
  missing: typeof SEARCH_ATTRIBUTES,
): Promise<void> {
  const searchAttributes = Object.fromEntries(missing.map(({ name }) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!hasGrpcCode(error, ALREADY_EXISTS)) throw error;
  }
  await connection.withDeadline(Date.now() + USABLE_TIMEOUT_MS, () => waitUntilUsable(connection, namespace));
}

async function waitUntilUsable(connection: Connection, namespace: string): Promise<void> {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} = "none"`).join(" AND ");
  const deadline = Date.now() + USABLE_TIMEOUT_MS;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}
