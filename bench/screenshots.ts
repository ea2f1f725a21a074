import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionHandle } from "../client/session-client.ts";
import { endTerminals, startAtTerminal } from "../test/cli/terminal-process.ts";
import { begin, finish, prepareWorkspace, script } from "../test/support/four-endings.ts";
import { RealServer, until } from "../test/support/real-session.ts";
import { TemporalWeb } from "../test/support/temporal-web.ts";

/**
 * Take the pictures of the documentation: `npm run screenshots`. A scripted session on a server, a worker and in a browser of its own; what is seen is real.
 *
 * Nothing in them tells of the machine: the workspace has a neutral path, and what names a process and its host is covered.
 */
const IMAGES = fileURLToPath(new URL("../docs/images", import.meta.url));
const WORKSPACE = "/tmp/inventory";
const QUEUE = "subagents";
const SCRIPT = "/tmp/inventory.script.json";
const SIZE = { width: 1500, height: 1600 };
/** Width of Temporal Web's own navigation, which is left out. */
const SIDEBAR = 256;
const MAX_BYTES = 150_000;

const server = await RealServer.start({ hasWeb: true, hasSearchAttributes: true });
const worker = await server.startWorker(QUEUE);
const web = await TemporalWeb.open(server, SIZE);

/** Take the part of a page that begins at a text: below it, and to its right where it heads a column. */
async function take(name: string, beginning: string, height: number, isColumn = false): Promise<void> {
  const box = await web.page.getByText(beginning, { exact: true }).last().boundingBox();
  if (box === null) throw new Error(`${beginning} is not to be seen on ${web.page.url()}`);
  const left = isColumn ? box.x - 24 : SIDEBAR + 20;
  const file = path.join(IMAGES, `${name}.png`);
  const identities = web.page.getByText(/\d+@\w+/);
  await web.page.screenshot({
    path: file,
    clip: { x: left, y: box.y - 20, width: SIZE.width - 20 - left, height },
    mask: [identities],
    maskColor: "#e8ecf4",
  });
  await report(file);
}

async function report(file: string): Promise<void> {
  const { size } = await stat(file);
  console.log(`${path.relative(process.cwd(), file)}: ${Math.round(size / 1024)} KB`);
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}`);
}

/** Draw what stands on a terminal's screen. */
async function takeTerminal(name: string, screen: string): Promise<void> {
  const file = path.join(IMAGES, `${name}.png`);
  await web.page.setContent("<pre></pre>");
  await web.page.addStyleTag({
    content:
      "pre { display: inline-block; margin: 0; padding: 16px; background: #16181d; color: #d7dae0; font: 14px/1.35 monospace; }",
  });
  await web.page.locator("pre").evaluate((element, text) => {
    element.textContent = text;
  }, screen.trimEnd());
  await web.page.locator("pre").screenshot({ path: file });
  await report(file);
}

async function takeWatch(session: SessionHandle): Promise<void> {
  const state = path.join(server.folder, "state");
  const environment = { ...process.env, HOME: server.folder, XDG_STATE_HOME: state };
  const machine = { environment, workspace: WORKSPACE };
  const terminal = startAtTerminal(machine, "watch", session.sessionId, "--address", server.address);
  await terminal.waitFor("running Bash npm run --silent watch");
  const screen = await until(
    async () => terminal.screen(),
    (text) => text.includes("reservations.js"),
  );
  endTerminals();
  await takeTerminal("watch", screen);
}

async function takeRunning(session: SessionHandle): Promise<void> {
  await web.openWorkflow(`${session.sessionId}/task-4`, "pending-activities");
  await web.sees('"doing": "running Bash', '"tool"');
  await take("web-pending-activity", "runAgent", 480);
}

async function takeEnded(session: SessionHandle): Promise<void> {
  await web.openWorkflow(session.sessionId, "timeline");
  await web.sees("TaskStop waits for the end of task-4");
  await take("web-session-timeline", "Timeline", 660);
  await web.openWorkflow(session.sessionId, "user-metadata");
  await web.sees("1 aborted", "Answer");
  await take("web-session-details", "Current Details", 960, true);
  await web.openWorkflow(`${session.sessionId}/task-3`, "timeline");
  await web.sees("IDLE_TIMEOUT");
  await take("web-delegate", "Back to Workflows", 590);
  await web.setColumns(["Status", "Workflow ID", "SubagentsAgent", "SubagentsStatus", "Start"]);
  await web.openList(`WorkflowType = "delegateWorkflow"`);
  await web.sees("timed_out", "stopped");
  await take("web-list", "5 Workflows", 404);
}

try {
  await mkdir(IMAGES, { recursive: true });
  await prepareWorkspace(WORKSPACE);
  await writeFile(SCRIPT, JSON.stringify(script));
  const { session, turn } = await begin(server, QUEUE, {
    hasSearchAttributes: true,
    workspace: WORKSPACE,
    model: { kind: "script", file: SCRIPT },
  });
  await takeWatch(session);
  await takeRunning(session);
  await finish(session, turn, WORKSPACE);
  await takeEnded(session);
} finally {
  endTerminals();
  await web.close();
  await worker.stop();
  await server.stop();
  await rm(WORKSPACE, { recursive: true, force: true });
  await rm(SCRIPT, { force: true });
}
