#!/usr/bin/env node
import { keepCompiledModules } from "./compile-cache.ts";

// Before everything else that is loaded.
keepCompiledModules(process.env);
const { runCommandLine } = await import("./command-line.ts");
process.exit(await runCommandLine(process.argv.slice(2)));
