import { toShellWord } from "../../core/text.ts";

/**
 * Write a command of ours as a person has to type it to reach the same server. Words are quoted where a shell needs it; `rest` is what the person
 * fills in, such as `"..."`.
 */
export type ToCommand = (words: readonly string[], rest?: string) => string;

const serverFlags = ["--address", "--namespace", "--profile"];
/** Commands that take no such flag. */
const withoutServer: ReadonlySet<string> = new Set(["agents", "dev"]);

/**
 * Find out how commands are to be written here: from a clone by npm's script, and with the flags that said which server was meant. What the environment
 * says holds for the next command too.
 */
export function createToCommand(words: readonly string[], environment: NodeJS.ProcessEnv): ToCommand {
  const isByScript = environment.npm_lifecycle_event === "subagents";
  const program = isByScript ? "npm run --silent subagents --" : "subagents";
  const flags = serverFlags.flatMap((flag) => {
    const value = findValue(words, flag);
    return value === undefined ? [] : [` ${flag} ${toShellWord(value)}`];
  });
  return (command, rest = "") => {
    const own = withoutServer.has(command[0] ?? "") ? "" : flags.join("");
    return `${program} ${command.map(toShellWord).join(" ")}${rest && ` ${rest}`}${own}`;
  };
}

/** The last one counts, as for the command itself. */
function findValue(words: readonly string[], flag: string): string | undefined {
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const index = own.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = own[index];
  return word === flag ? own[index + 1] : word?.slice(flag.length + 1);
}

/** Write a command without a wish for a server of its own. */
export const toPlainCommand: ToCommand = createToCommand([], {});
