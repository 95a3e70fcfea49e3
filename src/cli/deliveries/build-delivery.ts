import { gzipSync } from "node:zlib";
import { SIGNATURE_HEADER } from "../../kit/senders/signature/header.js";
import { signBody } from "../../kit/senders/signature/sign.js";
import type { AfterSigning, Delivery, Expectation, FixtureFolder } from "./fixture-folder.js";
import { isJsonObject, jsonObjectIn, restamp, uniqueInteger } from "./restamp.js";
import type { OutgoingDelivery } from "./send-delivery.js";

/**
 * The changes that `afterSigning` of a case can make to the signed bytes. The signature does not
 * match the changed bytes.
 */
export const AFTER_SIGNING: Readonly<
  Record<AfterSigning, { description: string; apply: (body: Buffer) => Buffer }>
> = {
  "change-byte": { description: "one byte changed after signing", apply: changeByte },
  "append-newline": {
    description: "a line end appended after signing",
    apply: (body) => Buffer.concat([body, Buffer.from("\n")]),
  },
  reserialise: {
    description: "the JSON parsed and written again after signing",
    apply: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
  },
  truncate: {
    description: "the last byte cut off after signing",
    apply: (body) => body.subarray(0, -1),
  },
  empty: { description: "the body emptied after signing", apply: () => Buffer.alloc(0) },
  gzip: { description: "compressed after signing", apply: (body) => gzipSync(body) },
};

export function changeByte(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const middle = Math.floor(changed.length / 2);
  if (changed.length > 0) changed[middle] = (changed[middle] as number) ^ 1;
  return changed;
}

export interface BuildContext {
  events: FixtureFolder["events"];
  secret: string;
  otherSecret: string;
  /** If true, events keep the ids and times of the fixtures. Otherwise they get new ones. */
  asIs: boolean;
}

export type BuiltDelivery = ReturnType<typeof buildDelivery>;

/**
 * Prepares a case. All its sendings have the same content, so a repeated sending has the same id.
 */
export function buildDelivery(delivery: Delivery, context: BuildContext) {
  const content = padded(contentOf(delivery, context), delivery.padToBytes ?? 0);
  const challenge = challengeIn(content);
  return {
    delivery,
    sendings: delivery.repeat ?? 1,
    build(index: number): OutgoingDelivery {
      const isOther = delivery.conflict === true && index > 0;
      // A case with `conflict` repeats the id with another body: spaces are added at the end.
      const body = isOther ? Buffer.concat([content, Buffer.alloc(index, " ")]) : content;
      const change = delivery.afterSigning;
      const sent = change === undefined ? body : AFTER_SIGNING[change].apply(body);
      return {
        method: delivery.method ?? "POST",
        headers: [
          ...(sent.length > 0 ? [["Content-Type", "application/json"] as const] : []),
          ...(change === "gzip" ? [["Content-Encoding", "gzip"] as const] : []),
          ...signatureHeaders(delivery, body, context),
        ],
        body: sent,
        isChunked: delivery.chunked ?? false,
      };
    },
    /** The expected answer to the sending with this index, with the placeholders filled. */
    expected(index: number): Expectation {
      const expected = (index > 0 ? delivery.expectRepeat : undefined) ?? delivery.expect;
      if (
        !isJsonObject(expected.body) ||
        expected.body["challenge"] !== "{challenge}" ||
        challenge === null
      ) {
        return expected;
      }
      return { ...expected, body: { ...expected.body, challenge } };
    },
  };
}

function contentOf({ event, body, bodyBase64 }: Delivery, { events, asIs }: BuildContext): Buffer {
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, "base64");
  if (body !== undefined) return Buffer.from(body.replaceAll("{unique}", String(uniqueInteger())));
  const stored = events.get(event ?? "") ?? {};
  return Buffer.from(JSON.stringify(asIs ? stored : restamp(stored, Date.now())));
}

function padded(content: Buffer, bytes: number): Buffer {
  return Buffer.concat([content, Buffer.alloc(Math.max(0, bytes - content.length), " ")]);
}

function signatureHeaders(
  delivery: Delivery,
  body: Buffer,
  context: BuildContext,
): (readonly [string, string])[] {
  if (delivery.header === null) return [];
  const timestamp = Math.floor(Date.now() / 1000) + (delivery.skewSeconds ?? 0);
  const secret = delivery.secret === "other" ? context.otherSecret : context.secret;
  const v1 = signBody({ body, secret, timestamp }).replace(/^.*v1=/, "");
  const values = new Map([
    ["{t}", String(timestamp)],
    ["{t13}", String(timestamp * 1000)],
    ["{v1}", v1],
    ["{V1}", v1.toUpperCase()],
  ]);
  const template = delivery.header ?? "t={t},v1={v1}";
  const line = [
    SIGNATURE_HEADER,
    template.replaceAll(/\{\w+\}/g, (name) => values.get(name) ?? name),
  ] as const;
  return delivery.headerTwice === true ? [line, line] : [line];
}

function challengeIn(content: Buffer): string | null {
  const data = jsonObjectIn(content)?.["data"];
  const challenge = isJsonObject(data) ? data["challenge"] : undefined;
  return typeof challenge === "string" ? challenge : null;
}
