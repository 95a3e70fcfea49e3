import type { SignalboxError } from "../../../errors.js";

/** Every finding by its stable id, and what it says. README's table of findings is held against this. */
export const FINDINGS = {
  node_version: "the Node that runs this is new enough",
  node_too_old: "it is not",
  driver_version: "better-sqlite3 is there and fits this Node",
  driver_missing: "better-sqlite3 is not installed",
  driver_crashes: "this better-sqlite3 crashes this Node (13 on a Node below 22, 12 on Node 24 and later)",
  driver_broken: "better-sqlite3 does not load: not built, or built for another Node",
  sqlite_version: "its SQLite is 3.51.3 or later",
  sqlite_too_old: "it is older, and can lose a commit at a checkpoint",

  inbox_file: "the file of `--db` is there, and may be read and written",
  inbox_missing: "there is no such file",
  inbox_not_ours: "it is no inbox, or one that this release cannot use",
  inbox_not_readable: "it may not be read",
  inbox_not_writable: "it, or its folder, may not be written to",
  inbox_disk: "it is on a local disk with room to grow",
  inbox_on_network: "it is on a network file system",
  inbox_in_memory: "it is on a file system in memory",
  inbox_in_container: "it is in a container's own layer, and goes with the container",
  disk_full: "so little of the disk is free that deliveries are refused",
  disk_low: "less than 1 GiB is free",
  inbox_owner: "a process has the inbox open",
  inbox_not_owned: "no process has it open",
  inbox_durability: "what an acknowledgement stands for: the write-ahead log, synced",
  inbox_not_wal: "the file has no write-ahead log",
  wal_large: "the write-ahead log is over 64 MiB",
  inbox_sound: "SQLite finds no damage",
  inbox_damaged: "SQLite finds damage",
  inbox_not_checked: "it was not checked: too large beside a receiver, busy, or not to be opened",

  url_form: "the service accepts a URL like this one",
  url_not_https: "it is not https; a warning for this machine itself",
  url_too_long: "it has more than 2048 characters",
  url_has_credentials: "it has a user name or a password",
  url_has_fragment: "it has a part after #, which is never sent",
  address_public: "its host has public addresses",
  address_local: "its host is this machine: good for a trial",
  address_private:
    "its host has an address that cannot be reached from outside: private, link-local, metadata, reserved",
  name_not_found: "its host has no address at all",

  connected: "a server answers",
  connection_refused: "nothing listens there",
  connection_timed_out: "nothing answers there: a firewall, or no such host",
  connection_failed: "no connection, for another reason",
  connection_broken: "the connection ends without an answer",
  tls_failed: "the certificate, or the TLS of the server, is not accepted",
  no_answer: "a connection, and no answer in time",
  receiver_answers: "a receiver answers on this path",
  redirected: "the answer is a redirect",
  path_not_found: "404: nothing is mounted on this path",
  path_takes_no_post: "405: the path is there for other methods",
  login_required: "a program before the receiver asks for credentials, or forbids the request",
  challenge_missing: "2xx without the challenge: another program answers",
  gateway_failed: "a proxy answers that it does not reach the receiver",
  answer_unexpected: "another answer that no receiver gives",
  body_parsed_first: "a body parser is mounted before the receiver",
  store_unavailable: "the receiver was not started, or its store is down",
  secret_unavailable: "the receiver has no secret",
  receiver_busy: "the receiver is overloaded or closing",
  body_compressed: "something compresses the body on its way",
  body_cut: "the body does not arrive whole or in time",
  signature_lost: "something drops the signature header",
  signature_changed: "something changes or doubles the signature header",
  clock: "the clocks agree",
  clock_skewed: "they do not; a warning below 300 s",
  answers_fast: "half of the answers came within a second",
  answers_slow: "they did not; a problem over 3 s",

  forgery_refused: "a signature made with another secret is refused",
  forgery_accepted: "it is accepted: anyone can post signals",
  secret: "the receiver knows the secret",
  secret_unknown: "the receiver knows another one",
  secret_partly_known: "it knows some of the secrets that were given",
  secret_has_blanks: "the two differ by a blank or a line end around the secret",
  secret_has_quotes: "they differ by quotes around it",
  secret_is_line: "one of them is a whole line of an .env file",
  secret_is_list: "several secrets were given as one",
  secret_lacks_prefix: "they differ by the prefix `whsec_`",
  secret_decoded: "the receiver decodes the secret instead of taking its text",
  stale_refused: "a signature that is 10 minutes old is refused",
  stale_accepted: "it is accepted: `toleranceSeconds` is over 300",

  bytes_kept: "a body arrives byte for byte, however it is spelt",
  body_changed: "the body is changed on its way: which spellings of it, and what arrives",
  body_refused: "a body that the service may send gets another answer than the receiver's",
  body_inflated: "compressed bodies are inflated on their way",
  large_body: "a body of 200 KiB is accepted",
  large_body_refused: "it is not",
  event_stored: "with `--test-event`: a test event was stored",
  event_not_stored: "it was not",
} as const satisfies Readonly<Record<string, string>>;

export type FindingId = keyof typeof FINDINGS;

export interface Finding {
  level: "ok" | "warning" | "problem";
  /** Stable: programs may branch on it. */
  id: FindingId;
  /** One line. Never a secret, nor a digest made with one. */
  found: string;
  /** One line on what to do; null when all is well. */
  fix: string | null;
  /** What depends on it cannot be examined any more. */
  blocks?: true;
}

export function ok(id: FindingId, found: string): Finding {
  return { level: "ok", id, found, fix: null };
}

export function warning(id: FindingId, found: string, fix: string): Finding {
  return { level: "warning", id, found, fix };
}

export function problem(id: FindingId, found: string, fix: string): Finding {
  return { level: "problem", id, found, fix };
}

/** A problem after which all that depends on it is skipped. */
export function blocker(id: FindingId, found: string, fix: string): Finding {
  return { ...problem(id, found, fix), blocks: true };
}

/** A refusal of the library as a finding. */
export function refusedWith(id: FindingId, { message, help }: SignalboxError): Finding {
  const found = message.slice(0, message.length - help.length).trim();
  return problem(id, found.replace(/\.$/, ""), help);
}
