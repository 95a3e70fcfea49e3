import { statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { isSignalboxError } from "../../../base/errors.js";
import { systemClock } from "../../../base/time/clock.js";
import { isDatabase, type InboxPlace } from "../../inbox/inbox-place.js";
import { CliError } from "../../console/exit.js";
import { inboxOf, storeOf } from "../../inbox/open-inbox.js";
import { pageOfInbox } from "../../inbox/page-of-inbox.js";

const ENDPOINT = "default";

/**
 * A page of the receiver's inbox. It is opened at the first request, because the receiver may make
 * it later.
 */
export function createInboxOfReceiver(place: InboxPlace, note: (line: string) => void) {
  let opened: { file: string; handler: RequestListener; close: () => Promise<void> } | null = null;
  /** One after the other, so that the inbox is opened once. */
  let changing: Promise<unknown> = Promise.resolve();

  /** @throws CliError, SignalboxError when there is no inbox that can be used */
  async function current(): Promise<RequestListener> {
    const file = fileAt(place);
    if (opened?.file === file) return opened.handler;
    await opened?.close();
    opened = null;
    const store = await storeOf(place);
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    const closing = new AbortController();
    const [, inbox] = await inboxOf(store, [ENDPOINT]);
    const handler = await pageOfInbox(inbox, { closing: closing.signal, note });
    async function close(): Promise<void> {
      closing.abort();
      await store.close(ENDPOINT);
    }
    opened = { file, handler, close };
    return handler;
  }

  return {
    listener: ((request, response) => {
      const handled = changing.then(async () => (await current())(request, response));
      changing = handled.catch((error: unknown) => {
        const isExpected = error instanceof CliError || isSignalboxError(error);
        if (!isExpected) note(`the inbox could not be opened: ${String(error)}`);
        const message = isExpected ? error.message : "It could not be opened.";
        response.writeHead(503, {
          "Content-Type": "application/json",
          "Cache-Control": "no-store",
        });
        response.end(JSON.stringify({ error: { code: "inbox_unavailable", message } }));
      });
    }) satisfies RequestListener,
    async close(): Promise<void> {
      await changing;
      await opened?.close();
    },
  };
}

/** Which file it is: the user may delete the inbox, and the receiver then makes another one. */
function fileAt({ db }: InboxPlace): string {
  if (isDatabase(db)) return db;
  const { dev, ino } = statSync(db, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev}:${ino}`;
}
