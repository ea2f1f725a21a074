#!/usr/bin/env node
import { keepCompiledModules } from "./compile-cache.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`subagents needs Node 22.19 or later; this is ${process.versions.node}`);
  process.exit(2);
}
// Before everything else that is loaded. `doctor` changes nothing, the state folder included.
if (process.argv[2] !== "doctor") keepCompiledModules(process.env);
const { runCommandLine } = await import("./command-line.ts");
process.exit(await runCommandLine(process.argv.slice(2)));
