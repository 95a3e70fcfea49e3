export const CTRL_C = "\u0003";

/** Reads single keys from a terminal. */
export interface Keys {
  /**
   * Gives the terminal to `ask`, which reads whole lines or asks questions, and continues
   * afterwards.
   */
  lend<Result>(ask: () => Promise<Result>): Promise<Result>;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

export function readKeys(stdin: NodeJS.ReadStream, onKey: (key: string) => void): Keys {
  let isClosed = false;
  const onData = (data: Buffer): void => {
    const text = data.toString();
    // Keys such as the arrows send several characters, which begin with an escape.
    if (!text.startsWith("\u001b")) for (const key of text) onKey(key);
  };
  function open(): void {
    if (isClosed) return;
    // In this mode Ctrl-C is a key too, and sends no signal.
    stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.resume();
  }
  function release(): void {
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  }
  open();
  return {
    async lend(ask) {
      release();
      try {
        return await ask();
      } finally {
        open();
      }
    },
    close() {
      if (!isClosed) release();
      isClosed = true;
    },
  };
}
