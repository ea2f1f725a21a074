import path from "node:path";
import { DEFAULT_TASK_QUEUE } from "../../core/messages.ts";
import { toCountText, toOneLine } from "../../core/text.ts";
import { examine } from "../../worker/doctor/examine.ts";
import type { Finding, Level } from "../../worker/doctor/finding.ts";
import { readTelemetry } from "../../worker/telemetry/settings.ts";
import { type ServerFlags, toServerEnvironment } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { keyVariables, parseModelAliases, parseModelReference } from "./model-flags.ts";
import type { ToCommand } from "./own-command.ts";
import { type DefinitionFlags, listWarnings, readLimits } from "./session-flags.ts";

export interface DoctorFlags extends ServerFlags, DefinitionFlags {
  /** A model that must be there. */
  model?: string;
  taskQueue?: string;
}

const NAME_WIDTH = 19;
const MAX_TEXT_CHARACTERS = 1_000;
const words: Record<Level, string> = { ok: "ok", warning: "WARNING", problem: "PROBLEM" };

/** Look at what a session needs, and say what is fine, what is not and what to do. Starts nothing and changes nothing. */
export async function doctor(flags: DoctorFlags, host: Host): Promise<ExitCode> {
  const { output, interruption, stateFolder } = host;
  const model = flags.model === undefined ? undefined : parseModelReference(flags.model, "--model");
  const findings = await interruption.orElse(
    examine({
      environment: toServerEnvironment(flags, host.environment),
      stateFolder,
      profile: flags.profile,
      addressFrom: flags.address === undefined ? undefined : "--address",
      questions: {
        taskQueue: flags.taskQueue ?? DEFAULT_TASK_QUEUE,
        isWorkerExpected: flags.taskQueue !== undefined,
      },
      definitions: {
        workspace: path.resolve(flags.workspace),
        directories: flags.agents.map((folder) => path.resolve(folder)),
        projectAgents: flags.projectAgents,
        modelAliases: parseModelAliases(flags.modelAlias),
        sessionModel: model === undefined ? { kind: "script", file: "" } : { kind: "provider", ...model },
      },
      model: { model, keyVariables },
      settings: [
        () => listWarnings({ limits: readLimits(host.environment) }),
        () => readTelemetry(host.environment, false).warnings,
      ],
    }),
  );
  for (const { command, ...found } of findings) {
    const finding = { ...found, ...toAdvice(found, command, output.toCommand) };
    output.event({ type: "check", ...finding });
    output.print(toText(finding));
  }
  const warnings = count(findings, "warning");
  const problems = count(findings, "problem");
  const exitCode = problems > 0 ? exitCodes.failed : exitCodes.completed;
  output.event({ type: "result", checks: findings.length, warnings, problems, exitCode });
  output.print(toSummary(warnings, problems));
  return exitCode;
}

function toAdvice(
  { advice }: Finding,
  command: Finding["command"],
  toCommand: ToCommand,
): Pick<Finding, "advice"> {
  if (advice === undefined) return {};
  return { advice: command === undefined ? advice : `${advice}: ${toCommand(command)}` };
}

function count(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}

function toText({ check, level, text, advice }: Finding): string {
  const line = `${words[level].padEnd(8)} ${check.padEnd(NAME_WIDTH)} ${toOneLine(text, MAX_TEXT_CHARACTERS)}`;
  return advice === undefined
    ? line
    : `${line}\n${" ".repeat(9)}-> ${toOneLine(advice, MAX_TEXT_CHARACTERS)}`;
}

function toSummary(warnings: number, problems: number): string {
  if (warnings + problems === 0) return "All is well.";
  return `${toCountText(problems, "problem")}, ${toCountText(warnings, "warning")}.`;
}
