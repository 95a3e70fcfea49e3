import type { KeyForm, KeyPairDigest } from "./keys.js";

/**
 * How a sender signs, as data. What does not fit takes a function in place of data.
 *
 * @example
 * // Stripe
 * { header: "stripe-signature", list: { between: ",", assign: "=", signature: "v1", time: "t" }, message: ["time", ".", "body"] }
 * // GitHub
 * { header: "x-hub-signature-256", prefix: "sha256=" }
 */
export interface SignatureScheme {
  /**
   * The header with the signature, or its names. Several that are sent with different values are
   * refused.
   */
  readonly header: string | readonly string[];
  /** What stands before the signature in its header. */
  readonly prefix?: string | undefined;
  /**
   * For a header that is a list, such as `t=1,v1=ab,v1=cd`. Each item with the name of the
   * signature is a candidate.
   */
  readonly list?: SignatureList | undefined;
  /**
   * What is signed, part after part. A function returns these parts, or several such lists if the
   * sender can have signed any of them, or null if it has signed none.
   *
   * @default `["body"]`
   */
  readonly message?:
    readonly MessagePart[] | ((delivery: SignedRequest) => SignedTexts | null) | undefined;
  /** The header with the event's id, or its names, for the part `"id"`. */
  readonly id?: string | readonly string[] | undefined;
  /** When it was signed; used for the age alone. @default nothing: the sender signs no time */
  readonly time?: SignatureTime | undefined;
  /**
   * HMAC with a hash, or a signature with a key pair: `ed25519`, `ecdsa` (P-256 with SHA-256, in
   * DER), or `rsa-sha256` (PKCS #1 v1.5). Of several hashes the length of the signature tells which
   * it is.
   *
   * @default "sha256"
   */
  readonly digest?: Hash | KeyPairDigest | readonly Hash[] | undefined;
  /** How the signature is written. @default "hex" */
  readonly encoding?: SignatureEncoding | undefined;
  /**
   * How the secret is written. `text`: its UTF-8 is the key. `base64` and `hex`: of the key's
   * bytes, at least 16. A public key can also be PEM, or be without its DER header if it is one of
   * Ed25519.
   *
   * @default "text"
   */
  readonly key?: KeyForm | undefined;
  /**
   * What stands before a secret in `base64` or `hex`, such as `whsec_`. A secret without it is
   * taken too.
   */
  readonly keyPrefix?: string | undefined;
}

/** How a signature can be written. */
export type SignatureEncoding = "hex" | "base64" | "base64url";

/** The grammar of a signature header that is a list. Without `assign` each item is a signature. */
export interface SignatureList {
  /** The text between two items. */
  readonly between: string;
  /** The text between the name and the value of an item. */
  readonly assign?: string | undefined;
  /** The name of an item with a signature. */
  readonly signature?: string | undefined;
  /** The name of the item with the time. */
  readonly time?: string | undefined;
}

/** A part of the signed message by its name; any other text stands for itself. */
export type MessagePart = "id" | "time" | "body" | "url" | (string & {});

export type SignedText = readonly (string | Uint8Array)[];
export type SignedTexts = SignedText | readonly SignedText[];

/**
 * Where the time of a signature stands: in the list, in a header, or in a property of the JSON
 * body.
 */
export type SignatureTime = (
  { readonly list: true } | { readonly header: string } | { readonly property: string }
) & {
  /** @default "seconds" */
  readonly form?: "seconds" | "milliseconds" | "iso" | undefined;
};

/** What `message` as a function gets. */
export interface SignedRequest {
  readonly body: Uint8Array;
  /** The `publicUrl` of the sender; empty without it. */
  readonly url: string;
  /**
   * The path and query of the request, as anyone can write them; undefined for a delivery that is
   * being signed.
   */
  readonly requestUrl?: string | undefined;
}

/**
 * Where a sender posts to, for one that signs that address: byte for byte as it has it, with its
 * query. Or a function that makes the address from the path and query of the request, by a grammar
 * of your own; null for a request that the sender cannot have made.
 */
export type PublicUrl = string | ((request: { url: string }) => string | null);

export const HASH_BYTES = { sha256: 32, sha1: 20, sha512: 64 };

export type Hash = keyof typeof HASH_BYTES;
