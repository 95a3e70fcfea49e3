import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type { AnySender } from "../../../../src/kit/senders/engine/sender.js";
import * as senders from "../../../../src/kit/senders/index.js";

/** What a sender puts around a body. */
export interface Signed {
  headers: Record<string, string>;
  url?: string;
}

/** What is signed with a body: the id goes into a header where the sender has one. */
export interface Signing {
  body: Buffer;
  /** In milliseconds since 1970. */
  now: number;
  id: string;
}

/** A sender's own side, written from its documents: nothing here calls the signing of src. */
export interface IndependentSigner {
  name: string;
  sender: AnySender;
  /** What the receiver is given. */
  secret: string;
  sign(signing: Signing): Signed;
  /** What is signed. */
  messageOf(signing: Signing): Buffer;
  /** The request with this signature. */
  carrying(signature: Buffer, signing: Signing): Signed;
}

/** A row of `signers.json`. */
interface Row {
  name: string;
  factory: Exclude<keyof typeof senders, "defineSender">;
  options?: object;
  /** @default "text" */
  secret?: keyof typeof SECRETS;
  /** `decoded`: the key is what stands in base64 in the secret. @default the whole secret */
  key?: "decoded";
  /** @default "sha256" */
  hash?: string;
  message: string;
  url?: string;
  headers: Record<string, string>;
}

const FACTORIES = { ...senders } as unknown as Record<
  Row["factory"],
  (options?: object) => AnySender
>;
const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const PAIR = generateKeyPairSync("ed25519");
/** The raw 32 bytes stand at the end of the DER. */
const PUBLIC = PAIR.publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const SECRETS = {
  text: "a-secret-of-the-independent-signers",
  whsec: `whsec_${KEY.toString("base64")}`,
  whpk: `whpk_${PUBLIC.toString("base64")}`,
};

/** Where Twilio posts to. */
export const TWILIO_URL = "https://hooks.example/twilio?tenant=1";

/** The address, then each name with its value, by name. */
export function twilioText(url: string, body: Buffer): string {
  const fields = [
    ...new Map(
      [...new URLSearchParams(body.toString())].map((pair) => [pair.join("="), pair]),
    ).values(),
  ];
  return (
    url +
    fields
      .sort(([a, b], [c, d]) => (a === c ? (b < d ? -1 : 1) : a < c ? -1 : 1))
      .flat()
      .join("")
  );
}

function twilioValues(body: Buffer) {
  if (!/^[{[]/.test(body.toString("latin1", 0, 1))) {
    const twilio = twilioText(TWILIO_URL, body);
    return { twilio, bodyHash: "", type: "application/x-www-form-urlencoded" };
  }
  const bodyHash = `&bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
  return { twilio: TWILIO_URL + bodyHash, bodyHash, type: "application/json" };
}

type Values = Readonly<Record<string, string | Buffer>>;

function filled(template: string, values: Values): Buffer {
  const parts = template.split(/[{}]/);
  return Buffer.concat(
    parts.map((part, index) => Buffer.from(index % 2 === 0 ? part : (values[part] as string))),
  );
}

function signerOfRow(row: Row): IndependentSigner {
  const { name, factory, options, hash = "sha256", message, url, headers } = row;
  const secret = SECRETS[row.secret ?? "text"];
  const key = row.key === "decoded" ? KEY : secret;
  const valuesOf = ({ body, now, id }: Signing): Values => ({
    id,
    body,
    secret,
    ms: String(now),
    s: String(Math.floor(now / 1000)),
    nanos: new Date(now).toISOString().replace("Z", "456789Z"),
    ...(factory === "twilio" && twilioValues(body)),
  });
  const messageOf = (signing: Signing) => filled(message, valuesOf(signing));
  const carrying = (signature: Buffer, signing: Signing): Signed => {
    const [hex, base64] = [signature.toString("hex"), signature.toString("base64")];
    const values = { ...valuesOf(signing), hex, base64 };
    const sent = Object.entries(headers).map(([header, value]) => [header, filled(value, values)]);
    return {
      headers: Object.fromEntries(sent.map(([header, value]) => [header, String(value)])),
      ...(url !== undefined && { url: String(filled(url, values)) }),
    };
  };
  const signatureOf = (text: Buffer) =>
    hash === "ed25519"
      ? sign(null, text, PAIR.privateKey)
      : createHmac(hash, key).update(text).digest();
  return {
    name,
    sender: FACTORIES[factory](options),
    secret,
    messageOf,
    carrying,
    sign: (signing) => carrying(signatureOf(messageOf(signing)), signing),
  };
}

const ROWS = JSON.parse(readFileSync(new URL("signers.json", import.meta.url), "utf8")) as Row[];

/** Each sender, in each form in which it signs. */
export const SIGNERS: readonly IndependentSigner[] = ROWS.map(signerOfRow);

/** The signer of this name. */
export function signerOf(name: string): IndependentSigner {
  const found = SIGNERS.find((signer) => signer.name === name);
  if (found === undefined) throw new Error(`no signer ${name}`);
  return found;
}
