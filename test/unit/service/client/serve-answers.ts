import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request as the service saw it. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface PlainAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: string | Buffer;
}

/** What to answer, or how. */
export type Answer = PlainAnswer | ((request: IncomingMessage, response: ServerResponse) => void);

export interface AnsweringServer {
  baseUrl: string;
  seen: SeenRequest[];
  server: ReturnType<typeof createServer>;
}

/**
 * A real server that answers each request in turn; the last answer holds for all that follow.
 * Closed with the test.
 */
export async function serveAnswers(
  ...answers: readonly [Answer, ...Answer[]]
): Promise<AnsweringServer> {
  return serve((index) => answers[Math.min(index, answers.length - 1)] as Answer);
}

/** The same, with an answer made for each request. */
export async function serve(
  answerOf: (index: number, seen: SeenRequest) => Answer,
): Promise<AnsweringServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(pieces).toString() };
      seen.push(one);
      const answer = answerOf(seen.length - 1, one);
      if (typeof answer === "function") {
        answer(request, response);
        return;
      }
      const body = answer.body ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
      // The machine's: the client has a clock of its own in tests, and the answers of those that
      // want one bring their own.
      response.sendDate = false;
      response.writeHead(answer.status ?? 200, {
        "Content-Type": "application/json",
        ...answer.headers,
      });
      response.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), "close");
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen, server };
}
