import { createConnection, createServer } from "node:net";

const CONNECT_TIMEOUT_MS = 2_000;

export interface ServerPorts {
  port: number;
  uiPort: number;
}

/** Temporal's own usual ports. */
export const USUAL_PORTS: ServerPorts = { port: 7233, uiPort: 8233 };

/** Choose ports that are free now: of each kind the first candidate that is, else any. Another process may still be quicker. */
export async function chooseFreePorts(candidates: readonly ServerPorts[]): Promise<ServerPorts> {
  const port = await chooseFreePort(candidates.map((candidate) => candidate.port));
  const uiPort = await chooseFreePort(
    candidates.map((candidate) => candidate.uiPort).filter((candidate) => candidate !== port),
  );
  return { port, uiPort };
}

async function chooseFreePort(candidates: readonly number[]): Promise<number> {
  for (const candidate of [...candidates, 0]) {
    const port = await listenBriefly(candidate);
    if (port !== undefined) return port;
  }
  throw new Error("no port of 127.0.0.1 is free");
}

function listenBriefly(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const server = createServer();
  server.once("error", () => resolve(undefined));
  server.listen({ host: "127.0.0.1", port, exclusive: true }, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
  });
  return promise;
}

/** Whether something accepts connections at a port of this machine. */
export function isPortOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection({ host: "127.0.0.1", port, timeout: CONNECT_TIMEOUT_MS });
  const settle = (isOpen: boolean) => {
    socket.destroy();
    resolve(isOpen);
  };
  socket.once("connect", () => settle(true));
  socket.once("timeout", () => settle(false));
  socket.once("error", () => settle(false));
  return promise;
}
