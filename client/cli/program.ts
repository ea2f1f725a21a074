import { Command, Option } from "commander";
import { TASK_WAIT_DEFAULT_SECONDS, TURN_MAX_DURATION_SECONDS } from "../../core/limits.ts";
import { DEFAULT_TASK_QUEUE } from "../../core/messages.ts";
import type { AgentsFlags } from "./agents.ts";
import type { ServerFlags } from "./connect.ts";
import { addDefinitionOptions, addServerOptions, addSessionOptions, toWholeNumber } from "./flags.ts";
import type { Host } from "./host.ts";
import type { RunFlags } from "./run.ts";
import type { SessionsFlags } from "./sessions.ts";
import type { WaitFlags } from "./wait.ts";
import type { WorkerFlags } from "./worker.ts";

/** Carry out a command on a host; resolves with its exit code. */
export type Action = (host: Host) => Promise<number>;

const MAX_LISTED = 1000;

/**
 * Describe the command line. `choose` is told which command was asked for; nothing is carried out yet.
 *
 * A command's code is loaded when it runs: `--help` needs neither Temporal nor a worker.
 */
export function createProgram(choose: (action: Action) => void): Command {
  const program = new Command("subagents")
    .description("Durable background delegation for AI agents, on Temporal")
    .exitOverride()
    .showHelpAfterError("(see subagents --help)")
    .configureHelp({ showGlobalOptions: true });
  addRun(program, choose);
  addSend(program, choose);
  addLooks(program, choose);
  addProcesses(program, choose);
  addAgents(program, choose);
  return program;
}

function addRun(program: Command, choose: (action: Action) => void): void {
  addSessionOptions(addServerOptions(program.command("run")))
    .description("hold a session of one turn; starts what is missing: a dev server, a worker")
    .argument("[prompt]", 'the message, in quotes; "-" reads it from standard input')
    .option("--task-queue <name>", "task queue of the session's workers")
    .option("--detach", "print the session and leave it running", false)
    .option("--example", "work on a fresh copy of the example, without a model or key", false)
    .action((prompt: string | undefined, flags: RunFlags) =>
      choose(async (host) => (await import("./run.ts")).run(prompt, flags, host)),
    );
}

function addSend(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("send"))
    .description("give a session its next message; model, workspace and mode are its own")
    .argument("<session>")
    .argument("<prompt>", 'the message, in quotes; "-" reads it from standard input')
    .action((session: string, prompt: string, flags: ServerFlags) =>
      choose(async (host) => (await import("./send.ts")).send(session, prompt, flags, host)),
    );
}

function addLooks(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("sessions"))
    .description("list sessions, the latest first")
    .option("--open", "only those that are open", false)
    .option("--limit <count>", "at most so many", toWholeNumber(1, MAX_LISTED), 50)
    .action((flags: SessionsFlags) =>
      choose(async (host) => (await import("./sessions.ts")).sessions(flags, host)),
    );
  addServerOptions(program.command("show"))
    .description("show a session, or one of its delegations with its report")
    .argument("<session>")
    .argument("[delegation]", "such as task-1")
    .action((session: string, delegation: string | undefined, flags: ServerFlags) =>
      choose(async (host) => (await import("./show.ts")).show(session, delegation, flags, host)),
    );
  addServerOptions(program.command("stop"))
    .description("stop delegations; without ids, abort the session's turn and close it")
    .argument("<session>")
    .argument("[delegations...]", "such as task-1 task-2")
    .action((session: string, delegations: string[], flags: ServerFlags) =>
      choose(async (host) => (await import("./stop.ts")).stop(session, delegations, flags, host)),
    );
  addServerOptions(program.command("wait"))
    .description("wait for delegations, as an observer")
    .argument("<session>")
    .argument("[delegations...]", "default: all that run, and all whose report was not read yet")
    .addOption(
      new Option("--mode <mode>", "until all have settled, or any").choices(["all", "any"]).default("all"),
    )
    .option("--min <count>", "with --mode any: until so many have settled", toWholeNumber(1, MAX_LISTED))
    .option(
      "--timeout <seconds>",
      "how long to wait",
      toWholeNumber(1, TURN_MAX_DURATION_SECONDS),
      TASK_WAIT_DEFAULT_SECONDS,
    )
    .action((session: string, delegations: string[], flags: WaitFlags) =>
      choose(async (host) => (await import("./wait.ts")).wait(session, delegations, flags, host)),
    );
}

function addProcesses(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("worker"))
    .description("run a worker until Ctrl-C; its runs are handed back then and go on elsewhere")
    .option("--task-queue <name>", "task queue to work on", DEFAULT_TASK_QUEUE)
    .addOption(new Option("--owned", "end with standard input").default(false).hideHelp())
    .addOption(new Option("--until-idle <session>", "end once the session is at rest").hideHelp())
    .action((flags: WorkerFlags) =>
      choose(async (host) => (await import("./worker.ts")).worker(flags, host)),
    );
  program
    .command("dev")
    .description("run the dev server in the foreground")
    .option("--json", "write one JSON object a line", false)
    .action(() => choose(async (host) => (await import("./dev.ts")).dev(host)));
}

function addAgents(program: Command, choose: (action: Action) => void): void {
  addDefinitionOptions(program.command("agents"))
    .description("list the definitions in force and what is odd about the documents")
    .option("--model <provider/model>", "the session's model, by which bare model names are looked up")
    .option("--strict", "exit with 1 if a document is refused", false)
    .option("--json", "write one JSON object", false)
    .action((flags: AgentsFlags) =>
      choose(async (host) => (await import("./agents.ts")).agents(flags, host)),
    );
}
