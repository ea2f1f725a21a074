import type { ToolName } from "../../core/tools.ts";
import { createBashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

/** The tools that an agent can be given. */
export const toolsByName: Record<ToolName, Tool> = {
  Read: readTool,
  Glob: globTool,
  Grep: grepTool,
  Edit: editTool,
  Write: writeTool,
  Bash: createBashTool(),
};
