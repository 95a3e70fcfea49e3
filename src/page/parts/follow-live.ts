const AGAIN_AT_ONCE_MS = 200;
const AGAIN_LATER_MS = 2000;

interface LiveListener<Message> {
  /** `EventSource` cannot send them. */
  headers?: () => Readonly<Record<string, string>>;
  onMessage: (message: Message) => void;
  /** @param wasLive whether a message came: the server ends each stream at some time */
  onEnd?: (wasLive: boolean) => void;
}

/**
 * Follows a live channel of the server, and opens it again when it has ended. A page that nobody
 * looks at is not connected.
 *
 * @param path answered with server-sent events of JSON, or with lines of JSON
 * @returns a function that ends it
 */
export function followLive<Message>(path: string, listener: LiveListener<Message>): () => void {
  let abort = new AbortController();
  const open = (): void => {
    abort.abort();
    abort = new AbortController();
    if (!document.hidden) void follow(path, listener, abort.signal);
  };
  document.addEventListener("visibilitychange", open);
  open();
  return () => {
    document.removeEventListener("visibilitychange", open);
    abort.abort();
  };
}

async function follow<Message>(
  path: string,
  { headers, onMessage, onEnd }: LiveListener<Message>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // A stream that ends without a message is of a server that closes.
    let wasLive = false;
    try {
      for await (const line of linesOf(path, { headers: headers?.() ?? {}, signal })) {
        const [, json] = /^(?:data: )?(\{.*)$/.exec(line) ?? [];
        if (json === undefined) continue;
        wasLive = true;
        onMessage(JSON.parse(json) as Message);
      }
    } catch {
      // The server has gone, or this is aborted.
    }
    if (signal.aborted) return;
    onEnd?.(wasLive);
    await new Promise((resume) => setTimeout(resume, wasLive ? AGAIN_AT_ONCE_MS : AGAIN_LATER_MS));
  }
}

async function* linesOf(path: string, init: RequestInit): AsyncGenerator<string, void> {
  const { ok, body } = await fetch(path, init);
  if (!ok || body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = "";
    for (let part = await reader.read(); part.value !== undefined; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
