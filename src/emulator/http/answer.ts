import type { ServerResponse } from "node:http";

/** What a request is answered with. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Bytes are sent as they are. */
  body: object;
}

/** Sends an answer once; a client that went away is no error. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  { requestId, hasBody, nowMs }: { requestId: string; hasBody: boolean; nowMs: number },
): void {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "Content-Type": body instanceof Uint8Array ? "application/octet-stream" : "application/json; charset=utf-8",
    "Content-Length": bytes.byteLength,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
    // By the service's clock, like the times that it tells: a client measures those against it.
    Date: new Date(nowMs).toUTCString(),
    ...headers,
  });
  response.end(hasBody ? bytes : undefined);
}
