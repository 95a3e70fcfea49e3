import { readFileSync } from "node:fs";
import { builtInSender } from "../../../../src/kit/senders/built-in.js";
import { readable } from "../../../../src/kit/senders/engine/define-sender.js";
import type { AnySender, Reading } from "../../../../src/kit/senders/engine/sender.js";
import { SENDER_NAMES } from "../../../../src/kit/senders/records.js";
import {
  verifyParsedSignature,
  type SignatureProblem,
} from "../../../../src/kit/senders/signature/verify.js";

/** A delivery of `fixtures/senders/`. */
export interface Vector {
  name: string;
  from: string;
  source: string;
  note?: string;
  secret: string;
  headers: Record<string, string>;
  body: string;
  now: number;
  publicUrl?: string;
  url?: string;
  /** What is read from it; null: it is authentic, but no event; `answer`: it is a handshake. */
  expected:
    | { answer: unknown }
    | { id: string | null; type: string; subtype?: string; subject?: string }
    | null;
}

/** The token that `meta` expects in its handshake. */
export const VERIFY_TOKEN = "a-token-of-ours";

/** A sender by its name. Twilio alone has a public address. */
export const senderOf = (name: string, publicUrl = "https://mycompany.com/myapp.php"): AnySender =>
  builtInSender(name, { publicUrl, verifyToken: VERIFY_TOKEN }) as AnySender;

const FOLDER = new URL("../../../../fixtures/senders/", import.meta.url);

export const VECTORS: readonly { file: string; name: string; sender: AnySender; vector: Vector }[] =
  SENDER_NAMES.flatMap((file) => {
    const { vectors } = JSON.parse(readFileSync(new URL(`${file}.json`, FOLDER), "utf8")) as {
      vectors: Vector[];
    };
    return vectors.map((vector) => ({
      file,
      name: `${file}/${vector.name}`,
      sender: senderOf(file, vector.publicUrl),
      vector,
    }));
  });

/** A vector as it is delivered, with what a test changes in it. */
export interface Delivered {
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: Uint8Array;
  url?: string | undefined;
  secrets: readonly string[];
  now: number;
}

export function deliveredOf({ headers, body, url, secret, now }: Vector): Delivered {
  return { headers, body: Buffer.from(body), url, secrets: [secret], now };
}

/**
 * What a receiver decides of a delivery: the index of the secret that signed it, or why it is
 * refused.
 */
export function verdictOf(
  sender: AnySender,
  { headers, body, url, secrets, now }: Delivered,
): number | SignatureProblem {
  const signature = sender.signature(headers, url);
  if (!signature.ok) return signature.reason;
  const { toleranceSeconds = 300 } = sender.limits;
  const match = verifyParsedSignature(signature, { body, secrets, toleranceSeconds, now });
  return match.ok ? match.secretIndex : match.reason;
}

/** What is read of a delivery, of the headers that are kept with it. */
export function readingOf(sender: AnySender, { headers, body }: Delivered): Reading {
  const kept = sender.keptHeaders.map((name) => {
    const value = headers[name];
    return [name, typeof value === "object" ? value.join(", ") : value] as const;
  });
  return sender.read(readable(body, Object.fromEntries(kept)));
}
