import { type Command, InvalidArgumentError, Option } from "commander";
import { thinkingLevels } from "../../core/definition.ts";
import { permissionModes } from "../../core/permissions.ts";
import { questionChoices } from "./questions.ts";

/** Options that say which server is meant. */
export function addServerOptions(command: Command): Command {
  return command
    .option("--address <host:port>", "Temporal server; before TEMPORAL_ADDRESS")
    .option("--namespace <name>", "namespace; before TEMPORAL_NAMESPACE")
    .option("--profile <name>", "profile of the Temporal configuration file")
    .option("--json", "write one JSON object a line", false);
}

/** Options that say where definitions are looked for. */
export function addDefinitionOptions(command: Command): Command {
  return command
    .option("--workspace <dir>", "folder to work in", process.cwd())
    .option(
      "--agents <dir>",
      "folder with definitions; may be given again, the later ranks first",
      collect,
      [],
    )
    .option("--project-agents", "read the workspace's own .agents/subagents", false)
    .option(
      "--model-alias <name=provider/model>",
      "what a bare model name stands for; may be given again",
      collect,
      [],
    );
}

/** Options that make a session. */
export function addSessionOptions(command: Command): Command {
  return addDefinitionOptions(command)
    .option("--model <provider/model>", "model of the main agent, and of delegates that name none")
    .option("--base-url <url>", "root of an OpenAI-compatible API")
    .option("--script <file>", "scripted words instead of a model; tools and files are real")
    .addOption(
      new Option("--permission <mode>", "how calls that can change something are treated")
        .choices(permissionModes)
        .default("ask"),
    )
    .addOption(createQuestionsOption())
    .option("--plan", "allow nothing that can change something, and no delegates", false)
    .addOption(
      new Option("--leftovers <what>", "delegates that still run at the turn's end")
        .choices(["abort", "deliver"])
        .default("abort"),
    )
    .addOption(
      new Option("--watchdog <what>", "end a silent delegate, or only report it")
        .choices(["enforce", "report"])
        .default("enforce"),
    )
    .addOption(new Option("--thinking <level>", "how much the model thinks").choices(thinkingLevels));
}

/** What becomes of questions for permission; without it, whether somebody sits at a terminal decides. */
export function createQuestionsOption(): Option {
  return new Option(
    "--questions <what>",
    "calls that need permission: wait for an answer, or deny them (default: wait on a terminal)",
  ).choices(questionChoices);
}

/** Whether the work is traced and measured; the environment's OTEL variables say it too. */
export function createTelemetryOption(): Option {
  return new Option("--telemetry", "send traces and serve metrics; see docs/telemetry.md").default(false);
}

/** Read a whole number within bounds. */
export function toWholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Write a whole number from ${minimum} to ${maximum}.`);
  };
}

function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}
