import type { JsonEvent } from "./output.ts";

/** Fields that hold a moment, as milliseconds within the program; other fields in `Ms` are durations. */
const MOMENT = /^(at|since|until|\w+At)Ms$/;
/** What a model wrote is nobody's to rewrite. */
const UNTOUCHED = "input";

/** Write every moment of an event, however deep, as a program reads it: `startedAtMs` becomes `startedAt`, an ISO time in UTC. */
export function withTimes(event: JsonEvent): JsonEvent {
  return convert(event) as JsonEvent;
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => {
      if (name === UNTOUCHED) return [name, held];
      const moment = typeof held === "number" && MOMENT.test(name) ? new Date(held) : undefined;
      return moment === undefined || Number.isNaN(moment.getTime())
        ? [name, convert(held)]
        : [name.slice(0, -"Ms".length), moment.toISOString()];
    }),
  );
}
