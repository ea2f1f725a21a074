/** Write a command of ours as a person has to type it to reach the same server. */
export type ToCommand = (words: string) => string;

export const toPlainCommand: ToCommand = (words) => `subagents ${words}`;

const serverFlags = ["--address", "--namespace", "--profile"];

/**
 * Find out how commands are to be written here: from a clone by npm's script, and with the flags that said which server was meant. What the environment
 * says holds for the next command too.
 */
export function createToCommand(words: readonly string[], environment: NodeJS.ProcessEnv): ToCommand {
  const isByScript = environment.npm_lifecycle_event === "subagents";
  const program = isByScript ? "npm run --silent subagents --" : "subagents";
  const flags = serverFlags.flatMap((flag) => {
    const value = findValue(words, flag);
    return value === undefined ? [] : [` ${flag} ${quote(value)}`];
  });
  return (command) => `${program} ${command}${flags.join("")}`;
}

/** The last one counts, as for the command itself. */
function findValue(words: readonly string[], flag: string): string | undefined {
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  const index = own.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = own[index];
  return word === flag ? own[index + 1] : word?.slice(flag.length + 1);
}

function quote(value: string): string {
  return /^[\w.:@/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
