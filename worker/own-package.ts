/** What this installation is, for the command line. */
export { readOwnPackage } from "../activities/own-package.ts";
