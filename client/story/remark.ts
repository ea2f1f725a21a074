import type { PermissionMode } from "../../core/permissions.ts";

/** Something of which no record is kept. */
export type Remark = { atMs: number } & (
  | { kind: "stop-requested"; id: string; cause: string }
  | { kind: "mode"; mode: PermissionMode }
  | { kind: "closing" }
  | { kind: "cancel-requested"; reason: string }
  | { kind: "attempt"; id: string; attempt: number; before: string }
  | { kind: "fault"; message: string; times: number }
);
