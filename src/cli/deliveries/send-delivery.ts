import type { Agent, ClientRequest, OutgoingHttpHeaders } from "node:http";
import { exchange } from "../../base/http/exchange.js";
import { environmentError } from "../console/exit.js";
import { withoutSecrets, type Answer } from "./answer.js";

export interface OutgoingDelivery {
  /** @default "POST" */
  method?: string;
  /** A value that is a list is sent as several header lines. */
  headers: OutgoingHttpHeaders;
  body: Buffer;
  isChunked?: boolean;
}

/** The receiver, and how it is asked. */
export interface Target {
  url: URL;
  /** The first one signs. All are removed from an answer's `shown`. */
  secrets: readonly string[];
  timeoutMs: number;
  signal: AbortSignal;
  /** Without one each delivery has its own connection. */
  agent?: Agent;
}

/** Delays the last byte of the body, so that many deliveries can be completed at one moment. */
export interface Hold {
  onHeld(): void;
  release: Promise<unknown>;
}

/** A receiver made with signalbox answers with at most a few hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Makes one request. @throws when the signal is aborted */
export async function sendDelivery(
  { url, secrets, timeoutMs, signal, agent }: Target,
  { method = "POST", headers: given, body, isChunked = false }: OutgoingDelivery,
  hold?: Hold,
): Promise<Answer> {
  const headers: OutgoingHttpHeaders = { "User-Agent": "signalbox", ...given };
  if (isChunked) headers["Transfer-Encoding"] = "chunked";
  else if (body.length > 0 || method === "POST" || method === "PUT")
    headers["Content-Length"] = body.length;
  const how = { method, headers, timeoutMs, signal, maxAnswerBytes: MAX_ANSWER_BYTES };
  const answer = await exchange(url, { ...how, ...(agent && { agent }) }, (request) => {
    if (hold !== undefined) writeHeld(request, body, hold);
    else if (isChunked) writeChunks(request, body);
    else request.end(body);
  });
  signal.throwIfAborted();
  if (answer.kind !== "answer") return answer;
  const text = answer.body.toString("utf8");
  return { ...answer, body: text, shown: withoutSecrets(text, secrets) };
}

export function unreachable(url: URL, code: string): Error {
  // The user name and the password are removed, because build servers log this line.
  const shown = Object.assign(new URL(url), { username: "", password: "" });
  return environmentError(`cannot connect to ${shown.href} (${code}): is the receiver running?`);
}

function writeChunks(request: ClientRequest, body: Buffer): void {
  const size = Math.max(1, Math.min(16 * 1024, Math.ceil(body.length / 3)));
  for (let start = 0; start < body.length; start += size)
    request.write(body.subarray(start, start + size));
  request.end();
}

function writeHeld(request: ClientRequest, body: Buffer, { onHeld, release }: Hold): void {
  request.write(body.subarray(0, -1), onHeld);
  void release.then(() => request.end(body.subarray(-1)));
}
