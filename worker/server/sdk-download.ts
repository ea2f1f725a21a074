/**
 * Let the SDK download Temporal's command line into the folder given. A process of its own, so that it can be ended when it hangs;
 * the SDK offers the download only together with starting the server once.
 */
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { toErrorText } from "./server-error.ts";

const [downloadDir] = process.argv.slice(2);
if (downloadDir === undefined) throw new Error("usage: sdk-download FOLDER");

try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "cached-download", downloadDir } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${toErrorText((error as Error).cause ?? error).replaceAll("\n", " ")}\n`);
  process.exit(1);
}
