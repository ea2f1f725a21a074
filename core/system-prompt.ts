import type { AgentRunInput } from "./agent-run.ts";

/** Write the main agent's system prompt. The section on delegation is there only if there is somebody to delegate to. */
export function toMainSystemPrompt(run: AgentRunInput): string {
  const parts = [
    "You are an agent that works on a code repository for its user. Find out before you change, change no more than was asked for, prove what you changed, and say plainly what you did and what you did not.",
    toSurroundings(run),
  ];
  if (run.catalogue.length > 0 && run.permission.contract === undefined) parts.push(toDelegationSection(run));
  return parts.join("\n\n");
}

/** Write a delegate's system prompt: its definition's prompt, and where it works. */
export function toDelegateSystemPrompt(run: AgentRunInput, instructions: string): string {
  return [
    instructions.trim(),
    toSurroundings(run),
    "You work for another agent, in the background. It sees nothing of your work but your last message: make that message your whole report, and give it only when you are done. Nobody can answer questions; where something is unclear, choose the reading that fits the task best and say so in the report.",
  ].join("\n\n");
}

function toSurroundings(run: AgentRunInput): string {
  const lines = [
    "## Surroundings",
    `- Workspace: ${run.workspace}. Relative paths are relative to it.`,
    `- Permission mode: ${run.permission.mode}${run.permission.scope === "inherit" ? "" : `, your own calls: ${run.permission.scope}`}.`,
  ];
  if (run.permission.contract !== undefined) {
    lines.push(
      `- ${run.permission.contract} mode: nothing may be changed. Read, think, and answer with a plan.`,
    );
  }
  if (!run.permission.canAsk && run.permission.mode !== "auto") {
    lines.push("- Nobody is there to grant permissions: a call that needs one is refused at once.");
  }
  return lines.join("\n");
}

function toDelegationSection(run: AgentRunInput): string {
  const agents = run.catalogue.map(
    ({ name, description, tools }) => `- ${name} (${tools.join(", ")}): ${description}`,
  );
  return `## Delegation

You can hand work to delegates that run in the background while you go on. Reach for them when:
- several directions can be explored independently: one explorer each, all started in the same message;
- a change is about to be committed: have it reviewed by somebody who tries to refute it, while you go on;
- a change with a complete specification spans several files: give it to fixer;
- a search or survey would fill your context with material of which you need only the answer;
- the same work has to be done on many parts: split it into batches, one delegate each.

How to work with them:
- Task answers at once. Go on working after it; do not wait when there is something to do.
- A delegate sees only the task you write: name paths, give the facts it needs, and say what the report must hold.
- Fill in \`description\`, so that the user sees what each delegate is for.
- TaskWait converges: with mode "any" on the first that are done, by default on all. When it runs out of time nothing has failed; the delegates keep working.
- Before you end your turn, wait for every delegate or stop it: whatever still runs then is aborted.

Delegates:
${agents.join("\n")}`;
}

/** What the model is told when its last allowed turn is over and one closing turn is left. */
export const closingInstruction =
  "You have used up your turns. No tools are available any more. Write your final report now, from what you know: what you found or did, what is unfinished, and what you could not verify.";
