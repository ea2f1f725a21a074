import { z } from "zod";

/** What a supervisor writes to each lease's connection, one JSON object a line. A lease writes nothing: it is held while connected. */
export const supervisorMessageSchema = z.discriminatedUnion("kind", [
  /** The server accepts connections. */
  z.object({ kind: z.literal("ready"), port: z.number().int(), uiPort: z.number().int() }),
  /** There is no server and there will be none: the supervisor ends. */
  z.object({ kind: z.literal("failed"), reason: z.string() }),
]);

export type SupervisorMessage = z.infer<typeof supervisorMessageSchema>;

/** What a supervisor is started with, as JSON in its only argument. */
export const supervisorSettingsSchema = z.object({
  folder: z.string(),
  binary: z.string(),
  usualPorts: z.object({ port: z.number().int(), uiPort: z.number().int() }),
});

export type SupervisorSettings = z.infer<typeof supervisorSettingsSchema>;

/** Exit code of a supervisor that found another one in charge. */
export const EXIT_BUSY = 75;
