import { Argument, Command, Option } from "commander";
import { TASK_WAIT_DEFAULT_SECONDS, TURN_MAX_DURATION_SECONDS } from "../../core/limits.ts";
import { DEFAULT_TASK_QUEUE } from "../../core/messages.ts";
import { type PermissionMode, permissionModes } from "../../core/permissions.ts";
import { readOwnPackage } from "../../worker/own-package.ts";
import type { AgentsFlags } from "./agents.ts";
import type { ApproveFlags, DenyFlags } from "./answer.ts";
import type { ServerFlags } from "./connect.ts";
import type { DoctorFlags } from "./doctor.ts";
import {
  addDefinitionOptions,
  addServerOptions,
  addSessionOptions,
  createQuestionsOption,
  createTelemetryOption,
  toWholeNumber,
} from "./flags.ts";
import type { Host } from "./host.ts";
import type { ReplayFlags } from "./replay.ts";
import type { RunFlags } from "./run.ts";
import type { SendFlags } from "./send.ts";
import { addSessionFilters, MAX_LISTED } from "./session-filters.ts";
import type { SessionsFlags } from "./sessions.ts";
import type { ShowFlags } from "./show.ts";
import type { WaitFlags } from "./wait.ts";
import type { WatchFlags } from "./watch.ts";
import type { WorkerFlags } from "./worker.ts";

/** Carry out a command on a host; resolves with its exit code. */
export type Action = (host: Host) => Promise<number>;

/**
 * Describe the command line. `choose` is told which command was asked for; nothing is carried out yet.
 *
 * A command's code is loaded when it runs: `--help` needs neither Temporal nor a worker.
 */
export function createProgram(choose: (action: Action) => void): Command {
  const program = new Command("subagents")
    .description("Durable background delegation for AI agents, on Temporal")
    .version(readOwnPackage().version, "--version", "print the version")
    .exitOverride()
    .showHelpAfterError("(see subagents --help)")
    .configureHelp({ showGlobalOptions: true });
  addRun(program, choose);
  addSend(program, choose);
  addLooks(program, choose);
  addWatch(program, choose);
  addAnswers(program, choose);
  addProcesses(program, choose);
  addAgents(program, choose);
  addReplay(program, choose);
  addDoctor(program, choose);
  return program;
}

function addRun(program: Command, choose: (action: Action) => void): void {
  addSessionOptions(addServerOptions(program.command("run")))
    .description("hold a session of one turn; starts what is missing: a dev server, a worker")
    .argument("[prompt]", 'the message, in quotes; "-" reads it from standard input')
    .option("--task-queue <name>", "task queue of the session's workers")
    .option("--detach", "print the session and leave it running", false)
    .option("--example", "work on a fresh copy of the example, without a model or key", false)
    .addOption(createTelemetryOption())
    .action((prompt: string | undefined, flags: RunFlags) =>
      choose(async (host) => (await import("./run.ts")).run(prompt, flags, host)),
    );
}

function addSend(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("send"))
    .description("give a session its next message; model, workspace and mode are its own")
    .argument("<session>")
    .argument("<prompt>", 'the message, in quotes; "-" reads it from standard input')
    .addOption(createQuestionsOption())
    .addOption(createTelemetryOption())
    .action((session: string, prompt: string, flags: SendFlags) =>
      choose(async (host) => (await import("./send.ts")).send(session, prompt, flags, host)),
    );
}

function addLooks(program: Command, choose: (action: Action) => void): void {
  addSessionFilters(addServerOptions(program.command("sessions")))
    .description("list sessions, the latest first")
    .action((flags: SessionsFlags) =>
      choose(async (host) => (await import("./sessions.ts")).sessions(flags, host)),
    );
  addServerOptions(program.command("show"))
    .description("show what happened in a session, or all that is known of one delegation, turn or question")
    .argument("<session>")
    .argument("[what]", "a delegation such as task-1, `main`, a turn such as turn-1, a question such as q-1")
    .option("--transcript", "the whole conversation of a delegation, a turn or `main`", false)
    .option("--full", "leave nothing out of what is long", false)
    .action((session: string, what: string | undefined, flags: ShowFlags) =>
      choose(async (host) => (await import("./show.ts")).show(session, what, flags, host)),
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

function addWatch(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("watch"))
    .description("see what a session's agents are doing, until it is closed; touches nothing")
    .argument("[session]", "default: the latest that is open")
    .option("--until-settled", "end as soon as nothing runs", false)
    .action((session: string | undefined, flags: WatchFlags) =>
      choose(async (host) => (await import("./watch.ts")).watch(session, flags, host)),
    );
}

function addAnswers(program: Command, choose: (action: Action) => void): void {
  const question = "the question, such as q-1: see `show` or `watch`";
  addServerOptions(program.command("approve"))
    .description("allow the tool call that an agent asks permission for")
    .argument("<session>")
    .argument("<question>", question)
    .option("--for-session", "and the same call for the rest of the session", false)
    .action((session: string, id: string, flags: ApproveFlags) =>
      choose(async (host) => (await import("./answer.ts")).approve(session, id, flags, host)),
    );
  addServerOptions(program.command("deny"))
    .description("deny the tool call that an agent asks permission for; it goes on without")
    .argument("<session>")
    .argument("<question>", question)
    .option("--reason <text>", "what the agent is told")
    .action((session: string, id: string, flags: DenyFlags) =>
      choose(async (host) => (await import("./answer.ts")).deny(session, id, flags, host)),
    );
  addServerOptions(program.command("mode"))
    .description("change a session's permission mode while it runs; open questions are judged again by it")
    .argument("<session>")
    .addArgument(new Argument("<mode>").choices(permissionModes))
    .action((session: string, wanted: PermissionMode, flags: ServerFlags) =>
      choose(async (host) => (await import("./answer.ts")).mode(session, wanted, flags, host)),
    );
}

function addProcesses(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("worker"))
    .description("run a worker until Ctrl-C; its runs are handed back then and go on elsewhere")
    .option("--task-queue <name>", "task queue to work on", DEFAULT_TASK_QUEUE)
    .addOption(createTelemetryOption())
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

function addReplay(program: Command, choose: (action: Action) => void): void {
  addServerOptions(program.command("replay"))
    .description("replay histories against the workflow code at hand, and say what diverged and where")
    .argument(
      "<histories...>",
      "history files, folders of them, and ids of workflows whose history is fetched from the server",
    )
    .option("--workflows <file>", "workflows file of your own, such as one that re-exports ours")
    .option("--run-id <id>", "only this run of the one workflow that is named")
    .option("--no-delegates", "leave out the histories of a workflow's delegates")
    .action((histories: string[], flags: ReplayFlags) =>
      choose(async (host) => (await import("./replay.ts")).replay(histories, flags, host)),
    );
}

function addDoctor(program: Command, choose: (action: Action) => void): void {
  addDefinitionOptions(addServerOptions(program.command("doctor")))
    .description(
      "look at what sessions need: server, state folder, programs, keys; starts and changes nothing",
    )
    .option("--model <provider/model>", "a model that must be known and have its key; no request is made")
    .option("--task-queue <name>", "a queue that must have workers")
    .action((flags: DoctorFlags) =>
      choose(async (host) => (await import("./doctor.ts")).doctor(flags, host)),
    );
}
