import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A gate in front of a server: what passes through it can be held back, as by a network that is away. */
export class TcpGate {
  readonly address: string;
  readonly #sockets: Set<Socket>;
  readonly #close: () => Promise<void>;

  private constructor(address: string, sockets: Set<Socket>, close: () => Promise<void>) {
    this.address = address;
    this.#sockets = sockets;
    this.#close = close;
  }

  static async open(target: string): Promise<TcpGate> {
    const [host = "", port = ""] = target.split(":");
    const sockets = new Set<Socket>();
    const server = createServer((near) => {
      const far = connect(Number(port), host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port: own } = server.address() as AddressInfo;
    return new TcpGate(`127.0.0.1:${own}`, sockets, async () => {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    });
  }

  /** How many connections go through it at this moment. */
  get connections(): number {
    return this.#sockets.size / 2;
  }

  /** Hold back all that the connections of this moment carry, in both directions, for good. */
  hold(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Cut the connections of this moment; new ones are let through. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cut all connections. A no-op the second time. */
  async close(): Promise<void> {
    await this.#close();
  }
}
