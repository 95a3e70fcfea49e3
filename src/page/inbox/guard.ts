import type { IncomingMessage } from "node:http";
import { isLoopbackRequest } from "../../base/addresses/loopback-request.js";
import { SignalboxError } from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";
import { withDeadline } from "../../base/time/timers.js";
import { Refusal } from "./refusal.js";

/** Whether the sender of a request may see the page and use it. Only `true` allows. */
export type Authorize<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
) => boolean | Promise<boolean>;

export interface GuardConfig {
  authorize: Authorize | "loopback";
  clock: Clock;
  /** Logs a problem. Must not throw. */
  report: (error: unknown, text: string) => void;
}

const AUTHORIZE_MS = 10_000;
const LATE = Symbol("late");
const ONLY_LOOPBACK =
  "Only a browser on the same machine can open this page, as http://localhost or http://127.0.0.1.";
const NO_AUTHORIZE = "inboxPage does not know who may use the page.";
const AUTHORIZE_HELP =
  'Pass a function, such as { authorize: (request) => request.session.isOperator === true }, or { authorize: "loopback" } for ' +
  "a page that only browsers on this machine can open.";

/**
 * Checks who may make a request of the page, for every request, of assets and streams too.
 *
 * @returns a function that throws a {@link Refusal} for a request that is not allowed
 * @throws SignalboxError `option_invalid`
 */
export function createGuard({
  authorize,
  clock,
  report,
}: GuardConfig): (request: IncomingMessage) => Promise<void> {
  if (authorize === "loopback") {
    return async (request) => {
      if (!isLoopbackRequest(request)) throw new Refusal(403, "forbidden", ONLY_LOOPBACK);
    };
  }
  if (typeof authorize !== "function")
    throw new SignalboxError("option_invalid", NO_AUTHORIZE, AUTHORIZE_HELP);
  const allows: Authorize = authorize;

  async function ask(request: IncomingMessage): Promise<unknown> {
    try {
      // The function runs inside the promise, so that what it throws rejects it.
      const answer = new Promise<unknown>((resolve) => resolve(allows(request)));
      return await withDeadline(answer, clock, AUTHORIZE_MS, LATE);
    } catch (error) {
      report(error, "authorize of the inbox page failed; the request got 500");
      throw new Refusal(
        500,
        "authorize_failed",
        "The page could not check who you are. The log has the error.",
      );
    }
  }

  return async (request) => {
    const answer = await ask(request);
    if (answer === true) return;
    if (answer === LATE) {
      report(
        null,
        "authorize of the inbox page did not answer within 10 seconds; the request got 503",
      );
      throw new Refusal(
        503,
        "authorize_timeout",
        "The page could not check in time who you are. Try again.",
      );
    }
    if (answer !== false) {
      report(
        null,
        "authorize of the inbox page returned neither true nor false; the request got 403",
      );
    }
    throw new Refusal(403, "forbidden", "You are not allowed to use this page.");
  };
}

/**
 * Refuses data, and changes, to a page of another origin. Without `Sec-Fetch-Site`, which browsers
 * do not send over plain HTTP, the `Origin` decides: the application may allow other origins to
 * read its answers.
 */
export function assertNotForeign({ headers }: IncomingMessage): void {
  const site = headers["sec-fetch-site"];
  const isOwn =
    site === undefined
      ? isOriginOf(headers.origin, headers.host)
      : site === "none" || site === "same-origin";
  if (!isOwn)
    throw new Refusal(403, "foreign_origin", "Only the page itself may make this request.");
}

/**
 * For a change, in addition. A form of another site cannot send the header or the content type, and
 * a script of another site may not.
 */
export function assertOwnWrite({ headers }: IncomingMessage): void {
  if (headers["x-signalbox"] !== "1") {
    throw new Refusal(403, "header_missing", "Send the header X-Signalbox: 1 with every change.");
  }
  if (!/^application\/json *(?:;|$)/i.test(headers["content-type"] ?? "")) {
    throw new Refusal(
      415,
      "content_type_unsupported",
      "Send the change with Content-Type: application/json.",
    );
  }
}

function isOriginOf(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true;
  return (
    host !== undefined &&
    /^https?:\/\/(.+)$/i.exec(origin)?.[1]?.toLowerCase() === host.toLowerCase()
  );
}
