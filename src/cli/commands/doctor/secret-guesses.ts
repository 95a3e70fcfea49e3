import type { FindingId } from "./finding-ids.js";

/** A key that the receiver may have in place of the secret that was given, and what that means. */
export interface SecretGuess {
  key: string | Buffer;
  id: FindingId;
  found: string;
  mend: string;
}

const PREFIX = "whsec_";
const AS_SHOWN = "The whole secret, as the service showed it, is the key.";

/** What usually goes wrong between the service's page and the receiver. No text holds a part of a secret. */
export function* secretGuesses(given: string): Generator<SecretGuess> {
  const secret = given.trim();
  yield* blanks(given, secret);
  yield* quotes(secret);
  yield* lines(secret);
  yield* encodings(secret);
}

function* blanks(given: string, secret: string): Generator<SecretGuess> {
  const id = "secret_has_blanks";
  if (secret !== given) {
    const found = "the secret given here has a blank or a line end around it, and the receiver's has none";
    yield { key: secret, id, found, mend: "Give it here without." };
  }
  const mend =
    "Remove it where the receiver has its secret from: an editor, `echo` without -n or a pasted line left it there.";
  for (const [key, what] of [
    [`${secret}\n`, "a line end after it"],
    [`${secret}\r\n`, "a line end after it"],
    [`${secret} `, "a blank after it"],
    [` ${secret}`, "a blank before it"],
  ] as const) {
    if (key !== given) yield { key, id, found: `the receiver's secret has ${what}`, mend };
  }
}

function* quotes(secret: string): Generator<SecretGuess> {
  const id = "secret_has_quotes";
  const unquoted = /^(["'])(.*)\1$/s.exec(secret)?.[2];
  if (unquoted !== undefined) {
    const found = "the secret given here stands in quotes, and the receiver's does not";
    yield { key: unquoted, id, found, mend: "Give it here without." };
  }
  const mend =
    "Remove them where the receiver has its secret from: Docker's --env-file, for one, takes them literally.";
  for (const quote of ['"', "'"]) {
    yield { key: `${quote}${secret}${quote}`, id, found: "the receiver's secret stands in quotes", mend };
  }
}

function* lines(secret: string): Generator<SecretGuess> {
  const assigned = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(secret)?.[1];
  if (assigned !== undefined) {
    const found = "the secret given here is a whole line of an .env file";
    yield { key: assigned, id: "secret_is_line", found, mend: "Give what stands after the =." };
  }
  const found = "the receiver's secret is a whole line of an .env file";
  const mend = "Give the receiver what stands after the =.";
  yield { key: `SIGNALS_SECRET=${secret}`, id: "secret_is_line", found, mend };
  const parts = secret.split(/[\s,;]+/).filter((part) => part !== "");
  if (parts.length < 2) return;
  for (const key of parts) {
    const several = "several secrets are given here as one, and the receiver knows one of them";
    yield {
      key,
      id: "secret_is_list",
      found: several,
      mend: "Give each with a --secret of its own, or one a line in --secret-file.",
    };
  }
}

function* encodings(secret: string): Generator<SecretGuess> {
  const rest = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : null;
  if (rest === null) {
    const found = `the secret given here lacks the prefix ${PREFIX} that the receiver's has`;
    yield { key: PREFIX + secret, id: "secret_lacks_prefix", found, mend: AS_SHOWN };
  } else if (rest !== "") {
    const found = `the receiver's secret lacks its prefix ${PREFIX}`;
    yield { key: rest, id: "secret_lacks_prefix", found, mend: AS_SHOWN };
  }
  const bare = rest ?? secret;
  for (const text of new Set([bare, secret])) yield decoded(Buffer.from(text, "base64"), "base64");
  if (/^(?:[0-9a-f]{2})+$/i.test(bare)) yield decoded(Buffer.from(bare, "hex"), "hex");
}

function decoded(key: Buffer, from: string): SecretGuess {
  const found = `the receiver decodes the secret from ${from}`;
  return { key, id: "secret_decoded", found, mend: `${AS_SHOWN} Nothing is decoded.` };
}
