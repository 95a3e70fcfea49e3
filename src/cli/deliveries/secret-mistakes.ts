/**
 * A key that the signer or receiver may use instead of the given secret, and the explanation if
 * that key matches.
 */
export interface SecretMistake {
  key: string | Buffer;
  id: string;
  found: string;
  fix: string;
}

const PREFIX = "whsec_";
const HERE = "the secret given here";

/**
 * What usual mistakes make of a secret. No text quotes it. @param other the side that may have
 * another key
 */
export function secretMistakes(given: string, other: "signer" | "receiver"): SecretMistake[] {
  const secret = given.trim();
  const theirs = `the ${other}'s secret`;
  const mistakes = [
    ...blanks(secret, theirs),
    ...quotes(secret, theirs),
    ...lines(secret, theirs),
    ...encodings(secret, theirs),
  ];
  return mistakes.filter(({ key }) => key.length > 0 && key !== given);
}

function blanks(secret: string, theirs: string): SecretMistake[] {
  const id = "secret_has_blanks";
  const fix = "Remove it there. An editor, `echo` without -n or pasting may have added it.";
  const endsInLine = `${theirs} has a line end after it`;
  return [
    {
      key: secret,
      id,
      found: `${HERE} has a space or a line end around it`,
      fix: "Remove it here.",
    },
    { key: `${secret}\n`, id, found: endsInLine, fix },
    { key: `${secret}\r\n`, id, found: endsInLine, fix },
    { key: `${secret} `, id, found: `${theirs} has a space after it`, fix },
    { key: ` ${secret}`, id, found: `${theirs} has a space in front of it`, fix },
  ];
}

function quotes(secret: string, theirs: string): SecretMistake[] {
  const id = "secret_has_quotes";
  const fix = "Remove them there. Docker's --env-file, for example, does not remove quotes.";
  const found = `${theirs} has quotes around it`;
  const unquoted = /^(["'])(.*)\1$/s.exec(secret)?.[2] ?? "";
  return [
    { key: unquoted, id, found: `${HERE} has quotes around it`, fix: "Remove them here." },
    { key: `"${secret}"`, id, found, fix },
    { key: `'${secret}'`, id, found, fix },
  ];
}

function lines(secret: string, theirs: string): SecretMistake[] {
  const assigned = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(secret)?.[1] ?? "";
  const line = "is a whole line of an .env file";
  const fix = "Use only the text after the = as the secret.";
  const parts = secret.split(/[\s,;]+/).filter((part) => part !== secret);
  const found = "several secrets are given here as one secret";
  return [
    { key: assigned, id: "secret_is_line", found: `${HERE} ${line}`, fix },
    { key: `SIGNALS_SECRET=${secret}`, id: "secret_is_line", found: `${theirs} ${line}`, fix },
    ...parts.map((key) => ({
      key,
      id: "secret_is_list",
      found,
      fix: "Give each secret with a separate --secret, or one per line in --secret-file.",
    })),
  ];
}

function encodings(secret: string, theirs: string): SecretMistake[] {
  const hasPrefix = secret.startsWith(PREFIX);
  const bare = hasPrefix ? secret.slice(PREFIX.length) : secret;
  const fix = "Use the whole secret, as the sender showed it, as the key. Do not decode it.";
  const found = `${hasPrefix ? theirs : HERE} lacks its prefix ${PREFIX}`;
  const decoded = (key: Buffer, from: string): SecretMistake => {
    return { key, id: "secret_decoded", found: `${theirs} was decoded from ${from}`, fix };
  };
  return [
    { key: hasPrefix ? bare : PREFIX + secret, id: "secret_lacks_prefix", found, fix },
    decoded(Buffer.from(bare, "base64"), "base64"),
    decoded(Buffer.from(secret, "base64"), "base64"),
    ...(/^(?:[0-9a-f]{2})+$/i.test(bare) ? [decoded(Buffer.from(bare, "hex"), "hex")] : []),
  ];
}
