// Every odd document that a person may write, each in a folder that is named by what is wrong with it.
import { readdir } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { fixtures, loadFixture, toOutcome } from "../support/definitions.ts";

// Folder | state and what differs from the plainest definition; problems as severity, line and key | how the last message begins.
const table = String.raw`
description-a-list | refused; error 3 description | is a list
description-absent | refused; error 1 | has no description
description-control-characters | in force
description-empty | refused; error 3 description | is empty
description-in-asterisks | in force; warning 3 description | is not valid YAML (Unexpected scalar at node
description-too-long | in force; warning 3 description | has 1499 characters and is cut to 1024
description-unindented-lines | refused; error 4 | is not valid YAML: Implicit keys need to be on
description-unquoted-colon | in force, tools Read; warning 3 description | is not valid YAML (Nested mappings are not
description-unquoted-colon-beside-a-list | refused; error 3 description | is not valid YAML: Nested mappings are not
disallowed-tools | in force, tools Read Glob Grep Bash
disallowed-tools-a-map | refused; error 4 disallowedTools | is a map
disallowed-tools-a-slip | refused; error 5 disallowedTools | "Wrte" is no tool here; Write may be meant
disallowed-tools-all | refused; error 4 disallowedTools | forbids every tool that is granted
disallowed-tools-empty | in force; warning 4 disallowedTools | forbids nothing
disallowed-tools-of-another-host | in force, tools Read Bash; warning 5 disallowedTools | "Frobnicate" is no tool here: nothing to forbid
disallowed-tools-scoped | in force, tools Read; warning 5 disallowedTools | "Bash(rm:*)" forbids all of Bash: calls can't
disallowed-tools-the-word-all | refused; error 5 disallowedTools | "all" is no tool here
document-blank-lines-first | in force; warning 1 | blank lines stand before the frontmatter
document-empty | refused; error 1 | is empty
document-frontmatter-never-closed | refused; error 1 | the frontmatter is never closed
document-frontmatter-too-large | refused; error 1 | the frontmatter is above 16 KiB
document-latin-1 | refused; error 3 | is not UTF-8 (Latin-1 or Windows-1252, perhaps)
document-nul-byte | refused; error 5 | holds a NUL byte
document-utf-16-big-endian | refused; error 1 | is UTF-16
document-utf-16-with-mark | refused; error 1 | is UTF-16
document-utf-16-without-mark | refused; error 1 | is UTF-16
document-without-frontmatter | refused; error 1 | has no frontmatter
document-without-prompt | refused; error 0 | has no prompt
duration-null | refused; error 4 maxDurationSeconds | is "null", which is not a whole number of
duration-true | refused; error 4 maxDurationSeconds | is "true", which is not a whole number of
duration-zero | in force, duration 10; warning 4 maxDurationSeconds | 0 is outside of 10 to 21600 and is read as 10
good-byte-order-mark | in force
good-claude-code | in force, tools Read Glob Grep Bash, turns 15
good-cr | in force
good-crlf | in force
good-description-over-lines | in force
good-every-key | in force, tools Read Edit, permission accept-edits, model large, thinking high, turns 12, idle 60, duration 600
good-mixed-line-ends | in force
good-name-from-file | in force
good-name-in-another-script | in force, name übersetzer-für-दस्तावेज़
good-no-final-line-end | in force
good-pi | in force, model large
good-pi-subagents | in force, tools Read Grep Bash, thinking low
good-rule-in-the-body | in force
good-smallest | in force
idle-as-long-as-a-wait | in force, idle 600; warning 4 idleTimeoutSeconds | a delegate that hangs is noticed after 600 s,
idle-just-below-a-wait | in force, idle 599
idle-too-long | in force, idle 21600; warning 4 idle-timeout-seconds; warning 4 idle-timeout-seconds | a delegate that hangs is noticed after 21600 s,
idle-too-short | in force, idle 10; warning 4 idleTimeoutSeconds | 3 is outside of 10 to 21600 and is read as 10
idle-with-a-unit | refused; error 4 idleTimeoutSeconds | is "5m", which is not a whole number of seconds
model-a-control-character | refused; error 4 model | is "acme\x07/large", which names no model
model-a-list | refused; error 4 model | is a list, which names no model
model-a-number | refused; error 4 model | is "9000", which names no model
model-bare-name | in force, model large; warning 4 model | large is acme/large
model-blanks-around | in force, model large
model-inherit | in force
model-no-value | refused; error 4 model | is empty, which names no model
model-unknown | in force, model unresolved; warning 4 model | cannot be started: acme has no model
name-64-characters | in force, name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
name-65-characters | refused; error 2 name | the name has more than 64 characters
name-a-list | refused; error 2 name | the name is a list
name-a-number | in force, name 007
name-a-path | refused; error 2 name | the name looks like a path
name-bidi-character | refused; error 2 name | the name holds a character that changes the
name-blanks-and-capitals | in force, name code-reviewer
name-control-character | refused; error 2 name | the name holds a control character
name-empty | in force; warning 2 name | is empty; the file's name is taken
name-invisible-character | refused; error 2 name | the name holds an invisible character
name-two-dots | refused; error 2 name | the name looks like a path
permission-a-list | refused; error 4 permission | is a list, which is no permission scope
permission-a-slip-of-the-key | in force; warning 4 permision | is an unknown key and is ignored
permission-and-mode-agree | in force, permission accept-edits
permission-and-mode-differ | refused; error 4 permission | says ask where permissionMode says accept-edits
permission-blanks | in force, permission accept-edits
permission-camel-case | in force, permission accept-edits
permission-mode-accept-edits | in force, permission accept-edits
permission-mode-bypass | in force; warning 4 permissionMode | "bypassPermissions" is read as inherit: no
permission-mode-dont-ask | in force; warning 4 permissionMode | "dontAsk" is read as inherit: no definition can
permission-mode-plan | refused; error 4 permissionMode | is "plan", which has no counterpart here
permission-no-value | refused; error 4 permission | is empty, which is no permission scope
permission-unknown | refused; error 4 permission | is "yolo", which is no permission scope
thinking-off | in force, thinking off
thinking-unknown | in force; warning 4 thinkingLevel | is "hard", no thinking level, and is ignored
tools-a-map | refused; error 4 tools | is a map
tools-a-null-in-the-list | refused; error 4 tools | is a list that holds something other than names
tools-a-number | refused; error 4 tools | is "3"
tools-a-slip | in force, tools Grep; warning 4 tools | "Raed" is no tool here and is dropped
tools-any-case | in force, tools Read Bash
tools-bare-star | in force, tools Read Glob Grep Edit Write Bash
tools-bare-star-in-block-list | in force, tools Read Glob Grep Edit Write Bash
tools-bare-star-in-flow-list | in force, tools Read Glob Grep Edit Write Bash
tools-blanks-between | refused; warning 4 tools; error 4 tools | names no tool that exists here
tools-block-list | in force, tools Read Bash
tools-comma-string | in force, tools Read Bash
tools-each-word-quoted | in force, tools Read Grep; warning 4 tools | is not valid YAML (Unexpected scalar at node
tools-empty-list | refused; error 4 tools | is an empty list
tools-empty-string | refused; error 4 tools | is empty
tools-flow-list | in force, tools Read Bash
tools-given-twice | refused; error 5 tools | is the same key as "tools" on line 4
tools-nested-lists | refused; error 4 tools | is a list that holds something other than names
tools-no-value | refused; error 4 tools | is empty
tools-only-commas | refused; error 4 tools | is ", ,"
tools-only-unknown | refused; warning 4 tools; warning 4 tools; error 4 tools | names no tool that exists here
tools-quoted-star | in force, tools Read Glob Grep Edit Write Bash
tools-scoped | in force, tools Read; warning 4 tools | "Bash(git add:*, git commit:*)" is no tool here
tools-task | in force, tools Read; warning 4 tools; warning 4 tools | "Agent" is no tool here and is dropped
tools-the-word-all | refused; warning 4 tools; error 4 tools | names no tool that exists here
tools-through-an-alias | in force, tools Read Bash
tools-two-spellings | refused; error 5 Tools | is the same key as "tools" on line 4
tools-unclosed-list | refused; warning 4 tools; error 4 tools | is "[Read, Grep"
tools-unknown-alias | refused; warning 4 tools; warning 4 tools; error 4 tools | names no tool that exists here
turns-a-list | refused; error 4 maxTurns | is a list, which is not a whole number
turns-a-word | refused; error 4 maxTurns | is "forty", which is not a whole number
turns-dashes | in force, turns 12
turns-half | refused; error 4 maxTurns | is "2.5", which is not a whole number
turns-huge | in force, turns 10000; warning 4 maxTurns | 100000000000000000000 is outside of 1 to 10000
turns-infinite | refused; error 4 maxTurns | is ".inf", which is not a whole number
turns-negative | in force, turns 1; warning 4 maxTurns | -5 is outside of 1 to 10000 and is read as 1
turns-no-value | refused; error 4 maxTurns | is empty, which is not a whole number
turns-none | in force
turns-two-spellings | refused; error 5 maxTurns | is the same key as "max-turns" on line 4
turns-underscores | in force, turns 12
turns-zero | in force
yaml-a-list-of-keys | refused; error 2 | holds no keys
yaml-a-plain-text | refused; error 2 | holds no keys
yaml-alias-bomb | refused; error 2 | holds more than 20 aliases
yaml-blank-line-beside-an-unquoted-colon | in force, tools Read Bash, turns 7; warning 3 description | is not valid YAML (Nested mappings are not
yaml-comment-beside-an-unquoted-colon | refused; error 3 description | is not valid YAML: Nested mappings are not
yaml-custom-tag | in force; warning 4 | Unresolved tag: !secret
yaml-deep-enough-to-crash | refused; error 2 | is nested too deeply
yaml-effort | in force; warning 4 effort | limits elsewhere and does nothing here
yaml-foreign-key-given-twice | refused; error 5 color | is the same key as "color" on line 4
yaml-key-given-twice-beside-an-unquoted-colon | refused; warning 3 description; error 5 tools | is the same key as "tools" on line 4
yaml-keys-that-limit-elsewhere | in force; warning 4 isolation; warning 5 timeoutMs; warning 6 turnBudget; warning 8 readonly; warning 9 idle-timeout | limits elsewhere and does nothing here
yaml-merge-key | in force; warning 5 << | is an unknown key and is ignored
yaml-tab-indent | refused; error 5 | is not valid YAML: Tabs are not allowed as
yaml-too-deep | refused; error 2 | is nested too deeply
yaml-unknown-alias | in force; warning 4 color | is not valid YAML (Alias of an anchor that does
yaml-unknown-key | in force; warning 4 favourite | is an unknown key and is ignored
`;

const rows = table
  .trim()
  .split("\n")
  .map((line) => line.split(" | "))
  .map(([folder = "", outcome = "", message = ""]) => ({ folder, outcome, message }));

describe("each document has one outcome", () => {
  test.each(rows)("$folder: $outcome", async ({ folder, outcome, message }) => {
    const catalogue = await loadFixture(folder);
    const last = catalogue.problems.at(-1)?.message ?? "";
    expect(toOutcome(catalogue)).toBe(outcome);
    expect(last.slice(0, message.length)).toBe(message);
    expect(last === "").toBe(message === "");
    for (const problem of catalogue.problems) expect(problem.instead).not.toBe("");
  });

  test("the table names every folder of fixtures", async () => {
    const folders = (await readdir(fixtures)).filter((name) => !name.startsWith("."));
    expect(rows.map(({ folder }) => folder)).toEqual(folders.sort());
  });
});
