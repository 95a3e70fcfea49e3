/**
 * What is done with the delivery of an event. `captured`: by somebody who has read it, without the
 * secret.
 */
export const CHANGES = [
  "the same again",
  "one more header",
  "captured: another id",
  "captured: another type",
  "captured: another shop",
  "captured: an hour later",
  "sender: signed anew an hour later",
  "sender: its last retry",
  "sender: other bytes, same id",
  "sender: same bytes, new id",
  "its last retry, nothing came before",
  "after a capture under its id",
  "after a capture of its type changed",
  "the largest",
  "a byte more",
] as const;
export type Change = (typeof CHANGES)[number];

/**
 * What becomes of it. `repeated`: handed off with `possiblyRepeated`. `stored as ~`: a conflict,
 * which is handed off too.
 */
export type Outcome =
  | "new"
  | "new, repeated"
  | "duplicate"
  | "conflict"
  | "stored as ~"
  | "quarantined"
  | "signature_missing"
  | "signature_malformed"
  | "signature_mismatch"
  | "timestamp_out_of_tolerance"
  | "body_too_large";

type Row = Readonly<Partial<Record<Change, Outcome>>>;

/** Id and time are signed in headers, the type in the body. */
const SIGNED: Row = {
  "the same again": "duplicate",
  "one more header": "duplicate",
  "captured: another id": "signature_mismatch",
  "captured: another type": "signature_mismatch",
  "captured: an hour later": "timestamp_out_of_tolerance",
  "sender: signed anew an hour later": "duplicate",
  "sender: its last retry": "duplicate",
  "sender: other bytes, same id": "duplicate",
  "sender: same bytes, new id": "new",
  "its last retry, nothing came before": "new",
  "after a capture under its id": "new",
  "after a capture of its type changed": "new",
  "the largest": "new",
  "a byte more": "body_too_large",
};
/** The sender sends the type in a header too, which is not read. */
const OTHER_HEADER: Row = {
  "captured: another type": "duplicate",
  "after a capture of its type changed": "duplicate",
};
const ID_IN_BODY: Row = { ...SIGNED, "sender: same bytes, new id": "duplicate" };
/**
 * The hash of what is signed is the id, and no time limits its age, or one that is longer than an
 * hour.
 */
const NO_ID: Row = {
  ...SIGNED,
  "captured: another id": "duplicate",
  "captured: an hour later": "duplicate",
  "sender: other bytes, same id": "new",
  "sender: same bytes, new id": "duplicate",
};
/** Neither id, type nor time is signed. */
const UNSIGNED: Row = {
  ...SIGNED,
  "captured: another id": "new, repeated",
  "captured: another type": "stored as ~",
  "captured: an hour later": "duplicate",
  "sender: other bytes, same id": "stored as ~",
  "sender: same bytes, new id": "new, repeated",
  "after a capture under its id": "stored as ~",
  "after a capture of its type changed": "stored as ~",
};
/**
 * Nothing is signed: who has read one delivery can make any other, and take an id before its event
 * comes.
 */
const TOKEN: Row = {
  ...SIGNED,
  ...OTHER_HEADER,
  "captured: another id": "new",
  "captured: an hour later": "duplicate",
  "after a capture under its id": "duplicate",
};

/** What becomes of each delivery of each sender. */
export const TABLE: Readonly<Record<string, Row>> = {
  "standard-webhooks": SIGNED,
  "standard-webhooks, text key": SIGNED,
  "standard-webhooks, v1a": SIGNED,
  svix: SIGNED,
  stripe: ID_IN_BODY,
  github: UNSIGNED,
  "gitlab, signing token": { ...SIGNED, ...OTHER_HEADER },
  "gitlab, secret token": TOKEN,
  shopify: { ...UNSIGNED, "captured: another shop": "stored as ~" },
  "shopify, Events": { ...UNSIGNED, "captured: another shop": "stored as ~" },
  slack: ID_IN_BODY,
  paddle: ID_IN_BODY,
  "lemon-squeezy": { ...NO_ID, ...OTHER_HEADER },
  linear: { ...NO_ID, ...OTHER_HEADER },
  "twilio, SHA-1": NO_ID,
  "twilio, SHA-256": NO_ID,
  zoom: NO_ID,
  meta: NO_ID,
  twitch: { ...SIGNED, ...OTHER_HEADER },
};
