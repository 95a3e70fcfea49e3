import type { ChangeMessage } from "../http/change-stream.js";
import { tokenHeaders } from "./control-token.js";

const AGAIN_MS = 1500;

const listeners = new Set<(message: ChangeMessage) => void>();

/** Calls back for each message of the emulator. @returns a function that ends this */
export function onMessage(listener: (message: ChangeMessage) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(message: ChangeMessage): void {
  for (const listener of listeners) listener(message);
}

/**
 * Follows the emulator as long as the page is open. A page that nobody looks at is not connected.
 */
export function followChanges(): void {
  let abort: AbortController | undefined;
  let now = Date.now();
  const take = (line: string): void => {
    const message = JSON.parse(line) as ChangeMessage;
    now = message.now;
    tell(message);
  };
  // What is loaded then says whether the emulator answers.
  const lose = (): void => tell({ now, hasChanged: true });
  const follow = (): void => {
    abort?.abort();
    abort = new AbortController();
    if (!document.hidden) void followLines("../changes", abort.signal, take, lose);
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

/**
 * Reads the lines of an answer that goes on, and asks again when it has ended. `EventSource` cannot
 * send the token.
 */
export async function followLines(
  path: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
  onEnd?: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { body } = await fetch(path, { headers: tokenHeaders(), signal });
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (
        let part = await reader?.read();
        part?.value !== undefined;
        part = await reader?.read()
      ) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(onLine);
      }
    } catch {
      // The server has gone, or this is aborted.
    }
    if (signal.aborted) return;
    onEnd?.();
    await new Promise((resume) => setTimeout(resume, AGAIN_MS));
  }
}
