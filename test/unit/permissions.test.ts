import { describe, expect, test } from "@jest/globals";
import { decidePermission, permissionModes, permissionScopes } from "../../core/permissions.ts";
import type { ToolName } from "../../core/tools.ts";

/**
 * The whole table, written by hand: a row for each mode of the session and scope of the definition, with the verdicts for
 * a reading tool inside, a writing tool inside, Bash, a reading tool outside and a writing tool outside.
 */
const table = `
  mode          scope         read in   write in  Bash      read out  write out
  ask           inherit       allow     ask       ask       ask       ask
  ask           ask           allow     ask       ask       ask       ask
  ask           accept-edits  allow     allow     ask       ask       ask
  ask           auto          allow     allow     allow     ask       ask
  accept-edits  inherit       allow     allow     ask       ask       ask
  accept-edits  ask           allow     ask       ask       ask       ask
  accept-edits  accept-edits  allow     allow     ask       ask       ask
  accept-edits  auto          allow     allow     allow     ask       ask
  auto          inherit       allow     allow     allow     allow     allow
  auto          ask           allow     ask       ask       allow     allow
  auto          accept-edits  allow     allow     allow     allow     allow
  auto          auto          allow     allow     allow     allow     allow
`;

/** In plan mode nothing that can change something runs, whatever mode and scope say; reading is as in the table. */
const columns: Array<{
  column: number;
  tools: ToolName[];
  inside: boolean | undefined;
  plan: "deny" | "as table";
}> = [
  { column: 2, tools: ["Read", "Glob", "Grep"], inside: true, plan: "as table" },
  { column: 3, tools: ["Write", "Edit"], inside: true, plan: "deny" },
  { column: 4, tools: ["Bash"], inside: undefined, plan: "deny" },
  { column: 5, tools: ["Read", "Glob", "Grep"], inside: false, plan: "as table" },
  { column: 6, tools: ["Write", "Edit"], inside: false, plan: "deny" },
];

const rows = table
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.trim().split(/ +/));

const cases = rows.flatMap((row) =>
  columns.flatMap(({ column, tools, inside, plan }) =>
    tools.flatMap((tool) =>
      [undefined, "plan" as const].map((contract) => ({
        mode: permissionModes.find((mode) => mode === row[0]),
        scope: permissionScopes.find((scope) => scope === row[1]),
        contract,
        tool,
        inside,
        verdict: contract === "plan" && plan === "deny" ? "deny" : row[column],
      })),
    ),
  ),
);

test("the table has a row for every mode and scope", () => {
  const pairs = rows.map(([mode, scope]) => `${mode} ${scope}`);
  expect(new Set(pairs).size).toBe(permissionModes.length * permissionScopes.length);
  expect(cases).toHaveLength(3 * 4 * 11 * 2);
});

test.each(cases)("$mode, scope $scope, contract $contract, $tool, inside $inside: $verdict", (row) => {
  const { mode, scope, contract, tool, inside, verdict } = row;
  if (!mode || !scope) throw new Error("the table names a mode or scope that does not exist");
  const decision = decidePermission({ mode, scope, contract, tool, inside });
  expect(decision.verdict).toBe(verdict);
  if (decision.verdict !== "allow") expect(decision.reason).toMatch(/\w/);
});

describe("reasons", () => {
  const question = {
    mode: "ask",
    scope: "inherit",
    contract: undefined,
    tool: "Write",
    inside: true,
  } as const;

  test("name the tool and the mode that asks", () => {
    expect(decidePermission(question)).toEqual({
      verdict: "ask",
      reason: "Write needs an answer in mode ask",
    });
    expect(decidePermission({ ...question, mode: "accept-edits", tool: "Bash", inside: undefined })).toEqual({
      verdict: "ask",
      reason: "Bash needs an answer in mode accept-edits",
    });
  });

  test("say that a path is outside, and that plan mode is in force", () => {
    expect(decidePermission({ ...question, tool: "Read", inside: false })).toEqual({
      verdict: "ask",
      reason: "the path is outside the workspace, which needs an answer in mode ask",
    });
    expect(decidePermission({ ...question, mode: "auto", contract: "plan" })).toEqual({
      verdict: "deny",
      reason: "plan mode allows nothing that can change something; Write can",
    });
  });
});
