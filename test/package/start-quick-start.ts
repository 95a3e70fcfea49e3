import { once } from "node:events";
import { createInterface } from "node:readline";
import { startOnAnyPort } from "./processes.js";

export interface Running {
  port: number;
  /** The next line that it prints with this in it. Rejects when it ends first. */
  lineWith(text: string): Promise<string>;
}

/** Runs it in a process of its own, on a free port; killed when the test is over. */
export async function startQuickStart(folder: string, file: string): Promise<Running> {
  const child = startOnAnyPort(folder, file);
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(([code]) =>
    Promise.reject(new Error(`ended with ${code}\n${stderr}`)),
  );
  // Killed in the end, when nobody waits any more.
  ended.catch(() => undefined);
  const lines = createInterface(child.stdout ?? process.stdin);
  const told = Promise.race([once(child, "message"), ended]);
  const [{ port }] = (await told) as [{ port: number }];
  return {
    port,
    lineWith(text) {
      const found = new Promise<string>((resolve) =>
        lines.on("line", (line) => {
          if (line.includes(text)) resolve(line);
        }),
      );
      return Promise.race([found, ended]);
    },
  };
}
