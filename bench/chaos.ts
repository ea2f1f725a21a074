import { parseArgs } from "node:util";
import { DELEGATES, runChaos } from "./chaos-session.ts";

/** `npm run chaos -- --kills N [--seed S]`: kill a worker N times under a main agent and ten delegates, and count what became of their work. */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 0 || !Number.isSafeInteger(seed)) {
  console.error("write --kills and --seed as whole numbers");
  process.exit(2);
}
console.log(`${DELEGATES} delegates, ${kills} kills, seed ${seed}`);
const { violations, ...counts } = await runChaos({ kills, seed, log: (line) => console.log(line) });
console.table(counts);
for (const violation of violations) console.error(`VIOLATION: ${violation}`);
console.log(violations.length === 0 ? "nothing lost, nothing doubled" : `${violations.length} violations`);
process.exit(violations.length === 0 ? 0 : 1);
