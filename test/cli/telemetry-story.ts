import { type Handler, type OpenAiServer, startOpenAiServer } from "../support/openai-server.ts";
import { callTools, errorEvent, reply } from "../support/openai-server-behaviours.ts";

const call = (id: string, name: string, input: Record<string, unknown>) => callTools({ id, name, input });

/** The main agent starts a test-runner and an explorer and waits for both. */
const main: Handler[] = [
  call("call-1", "Task", { agent: "test-runner", task: "Run it.", description: "the command" }),
  call("call-2", "Task", { agent: "explorer", task: "Read it.", description: "the file" }),
  call("call-3", "TaskWait", {}),
  reply("Both are done."),
];
const explorer: Handler[] = [call("read-1", "Read", { path: "a.txt" }), reply("It says hello.")];
const testRunner: Handler[] = [
  call("bash-1", "Bash", {
    command: 'echo "$TRACEPARENT|$TRACESTATE|$OTEL_EXPORTER_OTLP_HEADERS" > seen.txt',
  }),
  reply("It ran."),
];

/** A model whose test-runner is overloaded once, in mid-stream, after its command has run. */
export async function startStoryModel(): Promise<OpenAiServer> {
  let isOverloaded = true;
  return await startOpenAiServer(async (exchange) => {
    const text = JSON.stringify(exchange.request.messages);
    const answers = exchange.request.messages.filter(({ role }) => role === "assistant").length;
    const isDelegate = text.includes("You work for another agent");
    const steps = !isDelegate ? main : text.includes("Read it.") ? explorer : testRunner;
    if (steps === testRunner && answers === 1 && isOverloaded) {
      isOverloaded = false;
      const overloaded = { message: "overloaded", type: "overloaded_error" };
      return await errorEvent(overloaded, { texts: ["I was about"] })(exchange);
    }
    await (steps[answers] ?? reply("No more."))(exchange);
  });
}
