import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { signalboxCode } from "../../base/errors.js";
import { nextTurn } from "../../base/time/timers.js";
import { exportedEvent } from "../../kit/inbox/exported-event.js";
import type { SearchPage, StoredEvent } from "../../kit/inbox/stored-events.js";
import { isClosing, sendResponse } from "../../kit/receiver/adapters/send-response.js";
import { PAGE_HEADERS, pageFile, takesGzip } from "../parts/page-server.js";
import {
  activityOf,
  createTitles,
  endsOf,
  eventAnswer,
  eventsOf,
  MOST_LISTED,
  overviewOf,
  searchEvents,
  storedEvent,
} from "./answers.js";
import { assertNotForeign, assertOwnWrite, createGuard, type GuardConfig } from "./guard.js";
import type { ApiError } from "./inbox-api.js";
import { createLive, type LiveConfig } from "./live.js";
import type { PageInbox } from "./page-inbox.js";
import { parseSearch } from "./parse-search.js";
import { readEventIds } from "./read-request.js";
import { Refusal, refuseUnknown } from "./refusal.js";

type PageHandlerConfig = GuardConfig & LiveConfig;

interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
}

interface Route {
  method: "GET" | "POST";
  /** Gives nothing when it answers itself. */
  run: (call: Call) => Promise<Answer | void>;
}

/** Answers every request that it is given. Never throws, and leaves no rejected promise. */
export function createPageHandler(
  config: PageHandlerConfig,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { inbox, clock, report, closing } = config;
  const allow = createGuard(config);
  const titlesOf = createTitles(inbox);
  const live = createLive(config, titlesOf);

  const get = (
    run: (query: URLSearchParams, now: number, inbox: PageInbox) => Promise<object>,
  ): Route => ({
    method: "GET",
    run: async ({ query, request, response }) =>
      packed(json(await run(query, clock.now(), inboxFor(response))), request),
  });
  /** When the client has gone, its search ends. */
  const inboxFor = (response: ServerResponse): PageInbox => ({
    ...inbox,
    search: async (query) =>
      response.destroyed ? { entries: [], nextBeforeSeq: null } : inbox.search(query),
  });
  const move = (how: "replay" | "retryNow" | "discard", least: 0 | 1 = 1): Route => ({
    method: "POST",
    async run({ request }) {
      assertOwnWrite(request);
      const eventIds = await readEventIds(request, clock, least);
      try {
        const ends = how === "retryNow" ? await endsOf(inbox, eventIds) : undefined;
        return json({ outcomes: await inbox.move(how, eventIds), ends });
      } finally {
        live.nudge();
      }
    },
  });

  const routes: ReadonlyMap<string, Route> = new Map([
    ["api/overview", get((_query, now) => overviewOf(inbox, live.revision(), now, titlesOf))],
    ["api/activity", get((query, now) => activityOf(inbox, query, now))],
    ["api/events", get((query, now, found) => eventsOf(found, query, now, titlesOf))],
    ["api/ends", get((query) => endsOf(inbox, (query.get("ids") ?? "").split("\0", MOST_LISTED)))],
    ["api/event", get(async (query, now) => eventAnswer(await storedEvent(inbox, query), now))],
    ["api/bytes", { method: "GET", run: downloadBytes }],
    ["api/export", { method: "GET", run: downloadEvents }],
    [
      "api/live",
      { method: "GET", run: async ({ response }) => live.stream(response, PAGE_HEADERS) },
    ],
    ["api/replay", move("replay")],
    ["api/retry", move("retryNow", 0)],
    ["api/discard", move("discard")],
  ] satisfies [string, Route][]);

  async function downloadBytes({ query }: Call): Promise<Answer> {
    const { eventId, rawBody } = await storedEvent(inbox, query);
    if (rawBody === null) return refuseUnknown("The payload of this event was deleted.");
    // Not parsed, since it can be large.
    const extension = /^\s*[{[]/.test(Buffer.from(rawBody.subarray(0, 64)).toString())
      ? "json"
      : "bin";
    return {
      status: 200,
      headers: download(eventId, extension, "application/octet-stream"),
      body: rawBody,
    };
  }

  async function downloadEvents({ query, response }: Call): Promise<void> {
    const wanted = parseSearch(query.get("q") ?? "", clock.now());
    const lines = exportLines(inbox, (beforeSeq) =>
      searchEvents(inboxFor(response), wanted, titlesOf, PAGE, beforeSeq),
    );
    // The first line is read before the head is sent, so that a store that fails is answered with
    // 503.
    const first = await lines.next();
    response.writeHead(
      200,
      download(`${inbox.endpoints.join("-")}-events`, "ndjson", "application/x-ndjson"),
    );
    if (!first.done) response.write(first.value);
    // After an error the connection is closed before the end, so that the browser does not take the
    // file for whole.
    await pipeline(Readable.from(lines), response, { signal: closing }).catch((error: unknown) => {
      if (closing.aborted) return;
      if (!response.closed || signalboxCode(error) !== null)
        report(error, "an export of the inbox page ended early");
    });
  }

  async function answerTo(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer | void> {
    await allow(request);
    const [address = "", search] = (request.url ?? "").split(/\?(.*)/s);
    // Other forms, such as an absolute address, name nothing here.
    if (address !== "" && !address.startsWith("/")) return refuseUnknown(UNKNOWN);
    const path = address.slice(1);
    const route = routes.get(path);
    if (route === undefined) return fileAnswer(request, path);
    assertMethod(request, route.method);
    assertNotForeign(request);
    return route.run({ request, response, query: new URLSearchParams(search) });
  }

  return (request, response) => {
    if (isClosing(request)) return;
    answerTo(request, response)
      .catch((error: unknown) => {
        if (error instanceof Refusal) return problem(error);
        report(error, "the inbox page could not use the inbox; the request got 503");
        const message = "The store of the inbox does not work now. The log has the error.";
        return problem(new Refusal(503, signalboxCode(error) ?? "store_failed", message));
      })
      .then((answer) => {
        if (answer === undefined) return;
        const headers = {
          ...answer.headers,
          "Content-Length": String(Buffer.byteLength(answer.body)),
        };
        sendResponse(request, response, { ...answer, headers });
      })
      // The hooks of the application on the response throw, so no answer can be sent.
      .catch(() => void response.destroy());
  };
}

const gzipped = promisify(gzip);

async function packed(answer: Answer, { headers }: IncomingMessage): Promise<Answer> {
  // Less fits into one packet.
  if (answer.body.length < 1024 || !takesGzip(headers["accept-encoding"])) return answer;
  const body = await gzipped(answer.body);
  return { ...answer, headers: { ...answer.headers, "Content-Encoding": "gzip" }, body };
}

const UNKNOWN = "The page has nothing at this address.";

function fileAnswer(request: IncomingMessage, path: string): Answer {
  const redirect = path === "" ? addressWithSlash(request) : null;
  const file = pageFile("inbox", path, request.headers["accept-encoding"]);
  if (file === null) return refuseUnknown(UNKNOWN);
  assertMethod(request, "GET");
  if (redirect === null) return { status: 200, ...file };
  return { status: 307, headers: { ...PAGE_HEADERS, Location: redirect }, body: "" };
}

/**
 * Addresses in the page are relative, so its own address must end with a slash. Express removes the
 * mount path from `url` and keeps it in `originalUrl`.
 *
 * @returns where the page is, as a relative address; null when the slash is there
 */
function addressWithSlash(request: IncomingMessage): string | null {
  const { originalUrl = "/" } = request as { originalUrl?: string };
  const [address = ""] = originalUrl.split("?", 1);
  if (address.endsWith("/")) return null;
  const [name] = /[^/]+$/.exec(address) ?? [];
  // With `./` in front, a colon in the name does not make an absolute address of it.
  return name === undefined || !/^[\w.~%!$&'()*+,;=:@-]+$/.test(name) ? null : `./${name}/`;
}

function assertMethod(request: IncomingMessage, method: string): void {
  if (request.method === method) return;
  throw new Refusal(405, "method_not_allowed", `Use ${method} at this address.`, { Allow: method });
}

function json(value: object): Answer {
  const headers = { ...PAGE_HEADERS, "Content-Type": "application/json; charset=utf-8" };
  return { status: 200, headers, body: JSON.stringify(value) };
}

function problem({ status, code, message, headers }: Refusal): Answer {
  const answer = json({ error: { code, message } } satisfies ApiError);
  return { ...answer, status, headers: { ...answer.headers, ...headers } };
}

function download(name: string, extension: string, type: string): Record<string, string> {
  // Any other character could change the header, or the folder that the file is saved in.
  const safe = name
    .replaceAll(/[^\w.-]/g, "_")
    .replace(/^\.+/, "_")
    .slice(0, 100);
  return {
    ...PAGE_HEADERS,
    "Content-Type": type,
    "Content-Disposition": `attachment; filename="${safe}.${extension}"`,
  };
}

const PAGE = 100;
/**
 * A database is not waited for after each event, and its other connections are left to the
 * receiver.
 */
const READ_AT_ONCE = 4;

/** The lines of `signalbox inbox export` for the events that match, the newest first. */
async function* exportLines(
  inbox: PageInbox,
  search: (beforeSeq: number | undefined) => Promise<SearchPage>,
): AsyncGenerator<string, undefined> {
  for (let beforeSeq: number | undefined; ;) {
    const { entries, nextBeforeSeq } = await search(beforeSeq);
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
