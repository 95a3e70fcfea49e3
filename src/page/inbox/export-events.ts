import { nextTurn } from "../../base/time/timers.js";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import type { StoredEvent } from "../../kit/inbox/stored-events.js";
import type { PageInbox } from "./page-inbox.js";
import type { Wanted } from "./parse-search.js";

const PAGE = 100;
/**
 * A database is not waited for after each event, and its other connections are left to the
 * receiver.
 */
const READ_AT_ONCE = 4;

/** The lines of `signalbox inbox export` for the events that match, the newest first. */
export async function* exportLines(
  inbox: PageInbox,
  wanted: Wanted,
): AsyncGenerator<string, undefined> {
  for (let beforeSeq: number | undefined; ;) {
    const { entries, nextBeforeSeq } = await inbox.search({ ...wanted, beforeSeq, limit: PAGE });
    for (let from = 0; from < entries.length; from += READ_AT_ONCE) {
      const group = entries.slice(from, from + READ_AT_ONCE);
      const read = await Promise.all(
        group.map(({ endpoint, eventId }) =>
          inbox.get(inbox.endpoints.length > 1 ? `${endpoint}/${eventId}` : eventId),
        ),
      );
      // Retention may have deleted an event after the page was read.
      for (const event of read.filter((each) => each !== undefined)) {
        for (const piece of lineInPieces(event)) {
          yield piece;
          // A store in this process answers without a turn of the event loop, and the host
          // application needs turns.
          await nextTurn();
        }
      }
    }
    if (nextBeforeSeq === null) return;
    beforeSeq = nextBeforeSeq;
  }
}

/** A multiple of 3, so that the pieces in base64 together are the base64 of the whole. */
const PIECE_BYTES = 3 * 262_144;

/** A large body in one piece would block the event loop. */
export function* lineInPieces({ rawBody, ...event }: StoredEvent): Generator<string> {
  const { bodyBase64: _none, ...others } = exportedEvent({ ...event, rawBody: null });
  const start = `${JSON.stringify(others).slice(0, -1)},"bodyBase64":`;
  if (rawBody === null) {
    yield `${start}null}\n`;
    return;
  }
  const body = Buffer.from(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  let text = `${start}"`;
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    text += body.toString("base64", at, at + PIECE_BYTES);
    if (at + PIECE_BYTES >= body.length) break;
    yield text;
    text = "";
  }
  yield `${text}"}\n`;
}
