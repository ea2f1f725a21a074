/** A line that is being typed. */
export interface LineInput {
  text: string;
  state: "typing" | "done" | "given-up";
}

/** Sequences that a terminal sends for keys without a character, and around what is pasted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const keySequences = /\u001b(\[[0-9;?]*[ -/]*[@-~]|O.)/g;
const MAX_CHARACTERS = 500;

/** Put keys into a line: Enter ends it, Escape gives it up, Backspace and Ctrl-U take away. Whatever else is no text is passed over. */
export function typeInto(line: LineInput, keys: string): LineInput {
  let { text } = line;
  for (const { segment: key } of new Intl.Segmenter().segment(keys.replace(keySequences, ""))) {
    if (key === "\r" || key === "\n" || key === "\r\n") return { text, state: "done" };
    if (key === "\u001b") return { text, state: "given-up" };
    if (key === "\u007f" || key === "\b") text = withoutLast(text);
    else if (key === "\u0015") text = "";
    else if (!/\p{Cc}/u.test(key) && text.length + key.length <= MAX_CHARACTERS) text += key;
  }
  return { text, state: "typing" };
}

function withoutLast(text: string): string {
  return [...new Intl.Segmenter().segment(text)]
    .slice(0, -1)
    .map(({ segment }) => segment)
    .join("");
}
