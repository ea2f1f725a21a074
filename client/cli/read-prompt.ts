import { MAX_TASK_CHARACTERS } from "../../core/limits.ts";
import { CliError } from "./cli-error.ts";

/** Take the prompt from the argument, or from standard input where it is `-`. @throws CliError Usage.Prompt. */
export async function readPrompt(
  argument: string | undefined,
  stdin: NodeJS.ReadableStream,
): Promise<string> {
  if (argument === undefined) {
    throw new CliError(
      "Usage.Prompt",
      'no prompt is given: write it in quotes, or "-" to read it from standard input',
    );
  }
  const prompt = argument === "-" ? await readAll(stdin) : argument;
  if (prompt.trim() === "") throw new CliError("Usage.Prompt", "the prompt is empty");
  if (prompt.length > MAX_TASK_CHARACTERS) throw toTooLong();
  return prompt;
}

async function readAll(stdin: NodeJS.ReadableStream): Promise<string> {
  stdin.setEncoding("utf8");
  let text = "";
  for await (const chunk of stdin) {
    text += chunk;
    if (text.length > MAX_TASK_CHARACTERS) throw toTooLong();
  }
  return text;
}

function toTooLong(): CliError {
  return new CliError(
    "Usage.Prompt",
    `the prompt has more than ${MAX_TASK_CHARACTERS} characters: put long material into a file and name it`,
  );
}
