import { createConnection } from "node:net";

const CONNECT_MS = 1_500;
/** The SDK's own, where an address has none. */
const USUAL_PORT = "7233";

/** Say why a server can't be reached, as far as a bare connection tells: gRPC itself only says that its time was up. */
export function explainSilence(address: string): Promise<string> {
  const [, host = "", port = USUAL_PORT] =
    /^(?:dns:\/\/\/?)?\[?([^\]/]+?)\]?(?::(\d+))?$/.exec(address) ?? [];
  if (host === "") return Promise.resolve("the address is not of the form HOST:PORT");
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = createConnection({ host, port: Number(port), timeout: CONNECT_MS });
  const settle = (reason: string) => {
    socket.destroy();
    resolve(reason);
  };
  socket.once("connect", () =>
    settle(
      "it accepts connections, and answers nothing that Temporal would: another program, or TLS on one side only",
    ),
  );
  socket.once("timeout", () =>
    settle(`no connection within ${CONNECT_MS / 1000} s: a network or a firewall keeps it`),
  );
  socket.once("error", ({ code, message }: NodeJS.ErrnoException) => settle(toReason(code, host) ?? message));
  return promise;
}

function toReason(code: string | undefined, host: string): string | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name ${host} is not known`;
    default:
      return undefined;
  }
}
