import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../receiver.js";
import { listenerOf } from "./listener.js";

/** Fits `FastifyPluginAsync` of Fastify 5, without needing its types. */
export type FastifyPlugin = (instance: FastifyInstanceLike) => Promise<void>;

/** The part of `FastifyInstance` that the plugin uses. */
export interface FastifyInstanceLike {
  /** Removes the parsers of this scope. Those of the application stay. */
  removeAllContentTypeParsers(): unknown;
  /** Adds a parser to this scope. */
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  /** Adds a hook to this scope, after those of the application. */
  addHook(
    name: "onRequest",
    hook: (request: FastifyRequestLike, reply: unknown, done: () => void) => void,
  ): unknown;
  /** Adds a route for every method that Fastify knows. */
  all(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void,
  ): unknown;
}

/** The part of `FastifyRequest` that the plugin uses. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage;
  /** What is set here stands in place of the headers of `raw` for Fastify and for hooks. */
  headers: IncomingHttpHeaders;
  /** The bytes of a body that a `preParsing` hook of the application has read. */
  readonly rawBody?: unknown;
}

/** The part of `FastifyReply` that the plugin uses. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse;
  /** The headers that the hooks of the application have set. */
  getHeaders(): Readonly<Record<string, number | string | string[] | undefined>>;
  /** Lets the plugin answer in place of Fastify. */
  hijack(): unknown;
}

/**
 * Makes a Fastify plugin (Fastify 5) that answers every request below its prefix. No parser of the
 * application reads a body there. The hooks of the application run, and the headers that they set
 * are sent. Hooks on a payload (`preSerialization`, `onSend`) do not run, because Fastify does not
 * send the answer. After `onRequest`, hooks find no `Content-Type` in `request.headers` (it is in
 * `request.raw.headers`); a `preParsing` hook must not read the body, unless it keeps the bytes as
 * `request.rawBody`.
 *
 * @throws SignalboxError `option_invalid`
 * @example
 * fastify.register(fastifyPlugin(receiver), { prefix: "/webhooks/signals" });
 */
export function fastifyPlugin(receiver: Receiver): FastifyPlugin {
  const listener = listenerOf(receiver, "fastifyPlugin");
  const answer = ({ raw, rawBody }: FastifyRequestLike, reply: FastifyReplyLike): void => {
    if (rawBody !== undefined) Object.assign(raw, { rawBody });
    // Before `hijack`, because Fastify answers 500 when a hook has set a header that cannot be
    // sent.
    const headers = reply.getHeaders();
    for (const name in headers) reply.raw.setHeader(name, headers[name] ?? "");
    reply.hijack();
    listener(raw, reply.raw);
  };
  // Asynchronous, so that a mistake such as a route that is there twice rejects `ready` and
  // `listen`.
  return async (instance) => {
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
    // Fastify answers 415 to a media type that it cannot parse, before any parser runs. The
    // receiver reads the header of `raw`.
    instance.addHook("onRequest", (request, _reply, done) => {
      request.headers = { ...request.headers, "content-type": undefined };
      done();
    });
    instance.all("/", answer);
    instance.all("/*", answer);
  };
}
