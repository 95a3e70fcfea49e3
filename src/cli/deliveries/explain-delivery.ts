import { createHmac, timingSafeEqual } from "node:crypto";
import { builtInSender } from "../../kit/senders/built-in.js";
import { readable } from "../../kit/senders/engine/define-sender.js";
import type { AnySender, Reading } from "../../kit/senders/engine/sender.js";
import { SENDER_NAMES } from "../../kit/senders/records.js";
import { ParsedSignature, type Signature } from "../../kit/senders/signature/header.js";
import {
  verifyParsedSignature,
  type SignatureProblem,
} from "../../kit/senders/signature/verify.js";
import { bodyVariants, senderMistakes } from "./usual-mistakes.js";

interface CapturedDelivery {
  sender: AnySender;
  headers: Record<string, string>;
  body: Buffer;
  secrets: readonly string[];
  toleranceSeconds: number;
  nowSeconds: number;
  url: string | undefined;
}

interface Causes {
  /** Mistakes that certainly were made. */
  causes: readonly string[];
  /** What this command cannot test. */
  possibleCauses?: readonly string[];
}

/** What the command `verify` prints. The texts contain no secret and no computed digest. */
export type Explanation =
  | {
      valid: true;
      /** Null for a sender that signs no time. */
      ageSeconds: number | null;
      secretIndex: number;
      /** What the sender reads of it; absent for the service. */
      reading?: Reading;
    }
  | ({ valid: false; reason: SignatureProblem } & Required<Causes>);

export function explainDelivery(delivery: CapturedDelivery): Explanation {
  const { sender, headers, body, secrets, toleranceSeconds, nowSeconds, url } = delivery;
  const signature = sender.signature(headers, url);
  if (!signature.ok) {
    const { reason } = signature;
    const other = otherSender(delivery);
    if (other.length > 0) return refused(reason, { causes: other });
    if (reason === "signature_malformed") return refused(reason, causesOfMalformed(delivery));
    const needed = sender.signedHeaders.filter((name) => headers[name] === undefined).join(", ");
    return refused(reason, {
      causes: [`a header of the signature of ${sender.name} was not given: ${needed}`],
    });
  }
  const found = verifyParsedSignature(signature, {
    body,
    secrets,
    toleranceSeconds: Infinity,
    now: 0,
  });
  if (!found.ok) return refused(found.reason, causesOfMismatch(signature, delivery));
  const { timestamp, secretIndex } = found;
  const ageSeconds = timestamp === null ? null : nowSeconds - timestamp;
  if (ageSeconds === null || Math.abs(ageSeconds) <= toleranceSeconds) {
    const reading =
      sender.name === "signals" ? {} : { reading: sender.read(readable(body, headers)) };
    return { valid: true, ageSeconds, secretIndex, ...reading };
  }
  const when = ageSeconds >= 0 ? `${ageSeconds} s ago` : `${-ageSeconds} s in the future`;
  const advice =
    ageSeconds >= 0 ? ". For an old capture, set --now to the second at which it arrived" : "";
  const skew = `the digest matches, but it was signed ${when}, and the tolerance is ${toleranceSeconds} s. Check the clock${advice}`;
  return refused("timestamp_out_of_tolerance", { causes: [skew] });
}

function refused(reason: SignatureProblem, { causes, possibleCauses = [] }: Causes): Explanation {
  return { valid: false, reason, causes, possibleCauses };
}

function causesOfMalformed(delivery: CapturedDelivery): Causes {
  const { sender, headers } = delivery;
  const name = sender.signatureHeaders.find((each) => headers[each] !== undefined) ?? "";
  const header = headers[name] ?? "";
  const lower = header.toLowerCase();
  const isInCapitals = sender.signature({ ...headers, [name]: lower }, delivery.url).ok;
  const { cause, fixed } = isInCapitals
    ? { cause: "its letters must be lowercase", fixed: lower }
    : sender.name === "signals"
      ? findHeaderFault(header)
      : { cause: `it has not the form of ${sender.name}`, fixed: null };
  const first = `the header is malformed: ${cause}`;
  if (fixed === null) return { causes: [first] };
  const then = explainDelivery({ ...delivery, headers: { ...headers, [name]: fixed } });
  if (then.valid) return { causes: [`${first} (after this is fixed, the signature is valid)`] };
  const { causes, possibleCauses } = then;
  return { causes: [first, ...causes], possibleCauses };
}

const FORM = /^t=[0-9]{1,12},v1=[0-9a-f]{64}$/;

/**
 * Why a header of the service does not have its form; with the header as it should be, if that
 * shows.
 */
function findHeaderFault(header: string): { cause: string; fixed: string | null } {
  const dense = header.replaceAll(/\s/g, "");
  if (dense !== header && FORM.test(dense)) return { cause: "it contains spaces", fixed: dense };
  const lowercase = dense.toLowerCase();
  const milliseconds = /^t=(\d{10})\d{3},(v1=[0-9a-f]{64})$/.exec(lowercase);
  if (milliseconds !== null) {
    const fixed = `t=${milliseconds[1]},${milliseconds[2]}`;
    return { cause: "t is in milliseconds: it must be whole seconds", fixed };
  }
  return { cause: partAtFault(lowercase), fixed: null };
}

/** Which part of a header is at fault, by a pattern of such headers. The first match is used. */
const PARTS_AT_FAULT: readonly (readonly [RegExp, string])[] = [
  [/v1=.*v1=/, "it has more than one v1: it may have been sent twice"],
  [/^(?:sha256=)?[0-9a-f]{64}$/, "it is only a digest: t=<unix seconds>, and v1= are missing"],
  [/^(?!(?:.*,)?t=)/, "it has no t=<unix seconds>"],
  [/^(?!(?:.*,)?v1=)/, "it has no v1=<hex>"],
];

function partAtFault(header: string): string {
  const known = PARTS_AT_FAULT.find(([pattern]) => pattern.test(header));
  if (known !== undefined) return known[1];
  const [, digits] = /(?:^|,)v1=([0-9a-f]*)(?:,|$)/.exec(header) ?? [];
  return digits === undefined || digits.length === 64
    ? "it must be t=<1 to 12 digits>,v1=<64 hex digits>"
    : `its v1 has ${digits.length} hex digits instead of 64`;
}

/**
 * Tries the usual mistakes, one or two at a time, and returns those with which the digest matches.
 */
function causesOfMismatch(signature: Signature, delivery: CapturedDelivery): Causes {
  const { sender, body, secrets } = delivery;
  const bodies = [
    { signed: body, ofBody: "" },
    ...bodyVariants(body).map(({ body: signed, name, by }) => {
      const keep = "keep the raw bytes, as express.json({ verify: captureRawBody }) does";
      return { signed, ofBody: `the body was signed ${name}: ${by}; ${keep}` };
    }),
  ];
  const keys = [
    ...secrets.map((key) => ({ key, ofKey: "" })),
    ...secrets
      .flatMap((secret) => senderMistakes(sender, secret, "signer"))
      .map(({ key, found, fix }) => {
        // A key of bytes works in place of a text that is not decoded.
        return { key: key as string, ofKey: `${found}. ${fix}` };
      }),
  ];
  for (const mistakes of [1, 2]) {
    for (const { cause: ofForm, matches } of formsOf(signature)) {
      for (const { signed, ofBody } of bodies) {
        for (const { key, ofKey } of keys) {
          const causes = [ofForm, ofBody, ofKey].filter((text) => text !== "");
          if (causes.length === mistakes && matches(signed, key)) return { causes };
        }
      }
    }
  }
  const causes = otherSender(delivery);
  if (causes.length > 0) return { causes };
  const consumed = "the body is empty: another program may have read the body before it was saved";
  return {
    causes,
    possibleCauses: [
      ...(body.byteLength === 0 ? [consumed] : []),
      "the secret belongs to another registration or another environment, or it was replaced by a rotation",
      "the header belongs to another delivery",
      "the body was changed in another way (keys reordered, numbers rewritten, bytes lost): keep the raw bytes",
    ],
  };
}

const RIGHT = "a signer must sign the text of t, a dot, and the body";

/**
 * What a signer may have signed: first what is right, then for the service the usual mistakes of
 * programs that sign.
 */
function formsOf(signature: Signature): { cause: string; matches: Signature["matches"] }[] {
  const right = {
    cause: "",
    matches: (body: Uint8Array, key: string) => signature.matches(body, key),
  };
  if (!(signature instanceof ParsedSignature)) return [right];
  const { timestampText: t, digestHex } = signature;
  const withPrefix = (prefix: string, cause: string) => ({
    cause,
    matches(body: Uint8Array, key: string) {
      const digest = createHmac("sha256", key).update(prefix).update(body).digest();
      return timingSafeEqual(digest, Buffer.from(digestHex, "hex"));
    },
  });
  return [
    right,
    withPrefix("", `the signer signed only the body: ${RIGHT}`),
    withPrefix(t, `the signer left out the dot after t: ${RIGHT}`),
    withPrefix(`${t}000.`, "the signer signed milliseconds and sent seconds"),
  ];
}

function otherSender({ sender, headers, body, secrets, url }: CapturedDelivery): string[] {
  const other = SENDER_NAMES.find((name) => {
    const signature =
      name === sender.name
        ? undefined
        : builtInSender(name, { publicUrl: url })?.signature(headers, url);
    if (signature?.ok !== true) return false;
    return verifyParsedSignature(signature, { body, secrets, toleranceSeconds: Infinity, now: 0 })
      .ok;
  });
  return other === undefined ? [] : [`the delivery is one of ${other}: give --sender ${other}`];
}
