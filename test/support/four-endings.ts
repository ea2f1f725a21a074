import { cp, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionHandle } from "../../client/session-client.ts";
import type { SessionInput, Turn } from "../../core/session.ts";
import type { RealServer } from "./real-session.ts";
import { until } from "./real-session.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/inventory", import.meta.url));

export const PROMPT =
  "The reorder report leaves items out that are due. Find out why, and say what has to change before I allow a repair.";

const task = (agent: string, description: string, text: string) => ({
  tool: "Task",
  input: { agent, description, task: text },
});
const call = (tool: string, input: object) => ({ calls: [{ tool, input }] });

/** One message whose delegates end in five ways: completed, failed, timed out, stopped, and aborted with its turn. */
export const script = {
  main: [
    {
      text: "Five pieces of work are independent of each other.",
      calls: [
        task(
          "explorer",
          "Where availability is computed",
          "Where is what is available of an item computed? Name every caller.",
        ),
        task(
          "code-reviewer",
          "reorder.js against its rules",
          "Review src/reorder.js against rules 2 and 3 in README.md.",
        ),
        task(
          "test-runner",
          "What the tests say today",
          "Run the whole suite with `npm run soak` and report what fails.",
        ),
        task(
          "fixer",
          "Try the repair on a copy",
          "Repair src/reorder.js on a copy and watch the tests while you do.",
        ),
        task(
          "explorer",
          "Who reads reserved stock",
          "Follow the field `reserved` from the stock list to the report.",
        ),
      ],
    },
    { calls: [{ tool: "TaskWait", input: { delegationIds: ["task-1", "task-2", "task-3"] } }] },
    {
      text: "No repair is allowed yet.",
      calls: [{ tool: "TaskStop", input: { delegationIds: ["task-4"] } }],
    },
    { text: 'reorder.js compares with < where rule 2 says "at or below". One character has to change.' },
  ],
  agents: {
    explorer: [
      {
        when: "available",
        steps: [
          call("Grep", { pattern: "onHand|reserved", path: "src" }),
          call("Read", { path: "src/availability.js" }),
          {
            text: "<files>src/availability.js, src/reorder.js</files>\n<answer>`available()` in src/availability.js; reorder.js is its only caller.</answer>",
          },
        ],
      },
      {
        when: "reserved",
        steps: [
          call("Grep", { pattern: "reserved" }),
          {
            text: "`reserved` is read in src/parse-stock.js, turned into a number there, and handed on to src/reservations.js, which adds what was promised since the list was made. ".repeat(
              60,
            ),
            tokensPerSecond: 8,
          },
        ],
      },
    ],
    "code-reviewer": [
      { text: "I read the rules first.", ...call("Read", { path: "README.md" }) },
      {
        error: {
          status: 400,
          type: "invalid_request_error",
          message: "this key may not use the model after 2026-11",
        },
      },
    ],
    "test-runner": [
      { text: "I start the whole suite.", ...call("Bash", { command: "npm run --silent soak" }) },
      { text: "24 of 25 tests pass. The one that fails is", silence: { afterCharacters: 43 } },
    ],
    fixer: [
      { text: "I make a copy.", ...call("Bash", { command: "mkdir -p copy && cp src/*.js copy/" }) },
      { text: "Now the tests, again and again.", ...call("Bash", { command: "npm run --silent watch" }) },
      { text: "repaired" },
    ],
  },
};

/** Goes on once the file is there that lets it. */
const SOAK = `const { existsSync } = require("node:fs");
const timer = setInterval(() => existsSync("let-soak-end") && clearInterval(timer), 50);
`;

/** Make the workspace that the story plays in. */
export async function prepareWorkspace(workspace: string): Promise<void> {
  await cp(EXAMPLE, workspace, { recursive: true });
  await writeFile(path.join(workspace, "soak.cjs"), SOAK);
  await writeFile(path.join(workspace, "watch.cjs"), "setInterval(() => undefined, 1000);\n");
  const scripts = { soak: "node soak.cjs", watch: "node watch.cjs" };
  await writeFile(path.join(workspace, "package.json"), JSON.stringify({ name: "inventory", scripts }));
}

/** Begin the story and play it up to where the long-running delegates are all in what they do longest. */
export async function begin(
  server: RealServer,
  taskQueue: string,
  input: Partial<SessionInput> = {},
): Promise<{ session: SessionHandle; turn: number }> {
  const session = await server.startSession(
    taskQueue,
    script,
    {
      limits: { idleSeconds: 5, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 },
      ...input,
    },
    { prompt: PROMPT },
  );
  const { turn } = await session.send(PROMPT);
  await until(
    async () => {
      const { delegations } = await session.view();
      const live = await session.live(["task-3", "task-4"]);
      const phases = [...live.values()].map((state) =>
        state.kind === "running" ? state.details?.tool?.target : "",
      );
      return { statuses: delegations.map(({ status }) => status), phases };
    },
    ({ statuses, phases }) =>
      statuses.join() === "completed,failed,running,running,running" &&
      phases.join() === "npm run --silent soak,npm run --silent watch",
  );
  return { session, turn };
}

/** Play the rest: the third falls silent, the fourth is stopped, the fifth is left over. */
export async function finish(session: SessionHandle, turn: number, workspace: string): Promise<Turn> {
  await writeFile(path.join(workspace, "let-soak-end"), "");
  return await session.waitForTurn(turn);
}
