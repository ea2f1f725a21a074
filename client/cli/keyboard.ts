/** Keys of the terminal, while somebody listens. */
export interface Keyboard {
  /** Hear every key as it is pressed, in the pieces in which they arrive. @returns stops it and gives the terminal back as it was */
  listen(onKeys: (text: string) => void): () => void;
}

/** What is needed of a terminal's standard input. */
export interface KeyStream {
  isTTY?: boolean;
  readableEnded: boolean;
  setRawMode?(isRaw: boolean): unknown;
  setEncoding(encoding: "utf8"): unknown;
  on(event: "data", listener: (text: string) => void): unknown;
  off(event: "data", listener: (text: string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Find the keyboard; undefined where standard input is no terminal or was read to its end. */
export function findKeyboard(stream: KeyStream): Keyboard | undefined {
  if (stream.isTTY !== true || stream.readableEnded || stream.setRawMode === undefined) return undefined;
  return {
    listen(onKeys) {
      stream.setEncoding("utf8");
      stream.setRawMode?.(true);
      stream.on("data", onKeys);
      stream.resume();
      return () => {
        stream.off("data", onKeys);
        stream.setRawMode?.(false);
        stream.pause();
      };
    },
  };
}
