import {
  request as open,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { Receiver, ReceiverOptions } from "../../src/kit/index.js";
import { nodeHandler } from "../../src/kit/receiver/adapters/node-handler.js";
import { listen as listenOnPort, startReceiver } from "../http/serve.js";
import { SECRET } from "./run-cli.js";

/** @returns the address; the server ends with the test */
export async function listen(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listenOnPort(listener)}/webhooks/signals`;
}

/** A receiver at work behind a port, closed with the test. */
export async function serveReceiver(
  options: Partial<ReceiverOptions> = {},
): Promise<{ receiver: Receiver; url: string }> {
  const receiver = await startReceiver({ secrets: SECRET, ...options });
  return { receiver, url: await listen(nodeHandler(receiver)) };
}

export interface RecordedRequest {
  method: string;
  /** Names and values in turn, as they came over the wire. */
  rawHeaders: string[];
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** A server that writes down what it gets. */
export async function serveRecorder(
  answer: (request: RecordedRequest, response: ServerResponse) => void = (_request, response) =>
    void response.setHeader("Content-Type", "application/json").end('{"received":true}'),
): Promise<{ url: string; requests: RecordedRequest[] }> {
  const requests: RecordedRequest[] = [];
  const url = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", rawHeaders, headers } = request;
      const recorded = { method, rawHeaders, headers, body: Buffer.concat(chunks) };
      requests.push(recorded);
      answer(recorded, response);
    });
  });
  return { url, requests };
}

interface Passed {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * A proxy before a receiver. @param change what it does to each request; or the status with which
 * it refuses one
 */
export async function serveProxy(
  target: string,
  change: (passed: Passed) => Partial<Passed> | number,
  changeAnswer?: (text: string) => string,
): Promise<string> {
  const { url } = await serveRecorder((request, response) => {
    let changed: Partial<Passed> | number = 400;
    try {
      changed = change(request);
    } catch {
      // A parser that cannot read the body answers 400.
    }
    if (typeof changed === "number") response.writeHead(changed).end();
    else passOn(target, { ...request, ...changed }, response, changeAnswer);
  });
  return url;
}

/** Sends a request on, and its answer back. */
function passOn(
  target: string,
  { method, headers, body }: Passed & { method: string },
  response: ServerResponse,
  changeAnswer = (text: string): string => text,
): void {
  const length = method === "GET" ? {} : { "content-length": String(body.byteLength) };
  const { "transfer-encoding": _chunked, "content-length": _length, ...others } = headers;
  const onward = open(
    target,
    { method, headers: { ...others, ...length }, agent: false },
    (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => {
        const { "content-length": _of, ...answered } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, answered).end(changeAnswer(text));
      });
    },
  );
  onward.on("error", () => response.destroy());
  onward.end(body);
}
