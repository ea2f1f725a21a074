#!/usr/bin/env node
import { findNodeProblem } from "./node-version.ts";

// Before anything is linked that an older Node does not have: it would end with a syntax error that says nothing.
const problem = findNodeProblem();
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}
// Before everything else that is loaded. `doctor` changes nothing, the state folder included.
if (process.argv[2] !== "doctor") (await import("./compile-cache.ts")).keepCompiledModules(process.env);
const { runCommandLine } = await import("./command-line.ts");
process.exit(await runCommandLine(process.argv.slice(2)));
