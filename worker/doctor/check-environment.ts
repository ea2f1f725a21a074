import { type Finding, ok, problem, warning } from "./finding.ts";

/** One part of a command's configuration, read as the commands read it; its warnings. Throws what they would refuse it with. */
export type EnvironmentReader = () => string[];

/** See that the environment's variables can be understood: a command refuses those that can't before it starts anything. */
export async function checkEnvironment(readers: readonly EnvironmentReader[]): Promise<Finding[]> {
  const check = "environment";
  const found = readers.flatMap((read) => {
    try {
      return read().map((text) => warning(check, text, "change it, or leave it if that is meant"));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return [problem(check, text, "set it right or unset it: commands that need it end with exit code 2")];
    }
  });
  return found.length > 0 ? found : [ok(check, "limits and telemetry can be understood")];
}
