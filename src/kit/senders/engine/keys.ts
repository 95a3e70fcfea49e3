import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { safely } from "../../../base/errors.js";

/** How a key is written: as the text itself, or as its bytes in base64 or hex. */
export type KeyForm = "text" | "base64" | "hex";

/** A shorter key can be guessed, and one letter of base64 is no byte at all. */
export const LEAST_KEY_BYTES = 16;

/** @returns the key of an HMAC; null for a secret that is not written so, or too short */
export function hmacKey(secret: string, form: KeyForm, prefix: string): string | Buffer | null {
  if (form === "text") return secret;
  const text = withoutPrefix(secret, prefix);
  const writing = form === "hex" ? /^(?:[0-9a-fA-F]{2})+$/ : /^[A-Za-z0-9+/]+={0,2}$/;
  const bytes = writing.test(text) ? Buffer.from(text, form) : null;
  return bytes !== null && bytes.byteLength >= LEAST_KEY_BYTES ? bytes : null;
}

function withoutPrefix(secret: string, prefix: string): string {
  // Supabase shows the version of its signatures in front.
  const shown = prefix === "whsec_" ? secret.replace(/^v1,(?=whsec_)/, "") : secret;
  return shown.startsWith(prefix) ? shown.slice(prefix.length) : shown;
}

/** The kind of key of each digest, as `KeyObject.asymmetricKeyType` names it. */
const KINDS = { ed25519: "ed25519", ecdsa: "ec", "rsa-sha256": "rsa" };
/** What a signature with a key pair is made by. */
export type KeyPairDigest = keyof typeof KINDS;

/** The last keys that were read, since reading one takes longer than a verification. */
const publicKeys = new Map<string, KeyObject | null>();
const MOST_KEYS = 64;

/** @returns null for a text that is no public key of this kind */
export function publicKey(
  secret: string,
  digest: KeyPairDigest,
  form: KeyForm,
  prefix: string,
): KeyObject | null {
  const text = withoutPrefix(secret, prefix);
  const name = `${digest} ${form} ${text}`;
  let key = publicKeys.get(name);
  if (key === undefined) {
    key = readPublicKey(text, form);
    if (key?.asymmetricKeyType !== KINDS[digest]) key = null;
    if (publicKeys.size >= MOST_KEYS) publicKeys.clear();
    publicKeys.set(name, key);
  }
  return key;
}

/** The DER header of an Ed25519 public key (RFC 8410). */
const ED25519_DER = Buffer.from("302a300506032b6570032100", "hex");

function readPublicKey(text: string, form: KeyForm): KeyObject | null {
  // Node would make the public key of it. But a receiver must not have the sender's private key.
  if (text.includes("PRIVATE KEY")) return null;
  return safely(() => {
    if (form === "text" || text.startsWith("-----BEGIN")) return createPublicKey(text);
    const bytes = Buffer.from(text, form);
    const der = bytes.length === 32 ? Buffer.concat([ED25519_DER, bytes]) : bytes;
    return createPublicKey({ key: der, format: "der", type: "spki" });
  }, null);
}

/** @returns null for a text that is no private key of this kind in PEM */
export function privateKey(pem: string, digest: KeyPairDigest): KeyObject | null {
  const key = safely(() => createPrivateKey(pem), null);
  return key?.asymmetricKeyType === KINDS[digest] ? key : null;
}
