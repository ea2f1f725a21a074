import { type Client, QueryRejectedError, WorkflowClient } from "@temporalio/client";

const clients = new WeakMap<Client, WorkflowClient>();

/** A client like this one whose queries of a workflow that has ended are rejected by the server itself: no worker is asked, and none has to be there. */
function toOpenClient(client: Client): WorkflowClient {
  let found = clients.get(client);
  if (found === undefined) {
    found = new WorkflowClient({ ...client.workflow.options, queryRejectCondition: "NOT_OPEN" });
    clients.set(client, found);
  }
  return found;
}

/** Query a workflow that is open; undefined for one that has ended. */
export async function queryIfOpen<Answer>(
  client: Client,
  workflowId: string,
  name: string,
  args: unknown[],
): Promise<{ answer: Answer } | undefined> {
  try {
    const handle = toOpenClient(client).getHandle(workflowId);
    return { answer: await handle.query<Answer, unknown[]>(name, ...args) };
  } catch (error) {
    if (error instanceof QueryRejectedError) return undefined;
    throw error;
  }
}
