import type { MessagePort } from "node:worker_threads";
import type { RequestName, Requests, ToMain, ToThread } from "./protocol.ts";

/** The agent thread's line to the main thread. */
export interface ParentChannel {
  send(message: ToMain): void;
  ask<Name extends RequestName>(
    name: Name,
    input: Requests[Name]["input"],
  ): Promise<Requests[Name]["output"]>;
  /** Aborted when the main thread wants the run to end. */
  readonly signal: AbortSignal;
}

export function openParentChannel(port: MessagePort): ParentChannel {
  const waiting = new Map<number, { resolve: (output: never) => void; reject: (error: Error) => void }>();
  const stop = new AbortController();
  let lastId = 0;
  port.on("message", (message: ToThread) => {
    if (message.type === "stop") {
      stop.abort(new Error("the run was stopped"));
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === "reply") asked?.resolve(message.output as never);
    else asked?.reject(new Error(message.message));
  });
  const send = (message: ToMain) => port.postMessage(message);
  return {
    send,
    ask(name, input) {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ type: "request", id, name, input } as ToMain);
      });
    },
    signal: stop.signal,
  };
}
