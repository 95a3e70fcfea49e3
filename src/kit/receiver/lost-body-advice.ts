import { Readable } from "node:stream";

const STREAM =
  "Let nothing read it before, or keep its bytes as a Buffer in request.rawBody. In Fastify, use fastifyPlugin(receiver)";
const EXPRESS =
  "In Express, mount expressHandler(receiver) before express.json(), or use express.json({ verify: captureRawBody }); " +
  "in NestJS, NestFactory.create(AppModule, { rawBody: true })";
const NEXT_PAGES =
  "In a pages route of Next.js, export const config = { api: { bodyParser: false } }";
const FETCH =
  "Give the request to fetchHandler first, or give request.clone() to what reads it before";
const HANDLE =
  "Give receiver.handle the bytes as received. On AWS Lambda: " +
  'body: Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8")';

/**
 * What the log says when the original bytes cannot be had: the way out on the platform that the
 * body comes from.
 *
 * @param body what an adapter or a caller of `receiver.handle` gave as the body
 */
export function lostBodyAdvice(body: unknown): string {
  return `the bytes of the body did not get to signalbox, so their signature cannot be checked. ${adviceFor(body)}`;
}

function adviceFor(body: unknown): string {
  if (!(body instanceof Readable)) {
    return typeof body === "object" && body !== null && Symbol.asyncIterator in body
      ? FETCH
      : HANDLE;
  }
  // `app` is of Express (NestJS has it too), `previewData` of Next.js.
  const advice = "app" in body ? EXPRESS : "previewData" in body ? NEXT_PAGES : STREAM;
  if (typeof (body as { rawBody?: unknown }).rawBody !== "string") return advice;
  return `${advice}. The text in request.rawBody is not used: decoding may have changed it, so keep the Buffer`;
}
