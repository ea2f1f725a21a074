import { parseArgs } from "node:util";
import { type Handler, startOpenAiServer } from "./openai-server.ts";
import * as behaviours from "./openai-server-behaviours.ts";

/**
 * Run the server by hand: `npx node test/support/openai-server-main.ts --port 8099 --behave overloaded --behave reply`. One
 * behaviour a request, the last one stays; every request is shown.
 */
const known: Record<string, Handler> = {
  reply: behaviours.reply("This is an answer."),
  drip: behaviours.drip(1000),
  silent: behaviours.hangBeforeHeaders(),
  half: behaviours.hangAfter("Half a sen"),
  ping: behaviours.pingForever(1000, "Half a sen"),
  cut: behaviours.cutAfter("Half a sen"),
  endless: behaviours.endWithoutReason("Half a sen"),
  length: behaviours.finishWith("length", "Half a sen"),
  filter: behaviours.finishWith("content_filter", "Half a sen"),
  limited: behaviours.refuse(429, { message: "slow down" }, { "retry-after": "5" }),
  overloaded: behaviours.refuse(529, { message: "overloaded", type: "overloaded_error" }),
  html: behaviours.refuse(502, "<html><title>502 Bad Gateway</title></html>"),
  unauthorized: behaviours.refuse(401, { message: "no such key" }),
};

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    behave: { type: "string", multiple: true, default: ["reply"] },
  },
});
const handlers = values.behave.map((name): Handler => {
  const handler = known[name];
  if (handler === undefined)
    throw new Error(`--behave ${name}: allowed are ${Object.keys(known).join(", ")}`);
  return (exchange) => {
    console.log(`${exchange.index}: ${name}, ${exchange.request.messages.length} messages`);
    return handler(exchange);
  };
});
const server = await startOpenAiServer(handlers, { port: Number(values.port) });
console.log(server.baseUrl);
