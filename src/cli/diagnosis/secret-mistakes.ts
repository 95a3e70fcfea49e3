/** A key that the other side may have in place of the secret that was given, and what that means. */
export interface SecretMistake {
  key: string | Buffer;
  /** Of the finding that `doctor` makes of it. */
  id: string;
  found: string;
  fix: string;
}

const PREFIX = "whsec_";
const AS_SHOWN = "The whole secret, as the service showed it, is the key.";

/**
 * What usually goes wrong with a secret between the service's page and a program. No text holds a part of a secret.
 *
 * @param given the secret that was given to this command
 * @param other whose secret may differ from it
 */
export function secretMistakes(given: string, other: "signer" | "receiver"): SecretMistake[] {
  const secret = given.trim();
  return [
    ...blanks(secret, other),
    ...quotes(secret, other),
    ...lines(secret, other),
    ...encodings(secret, other),
  ].filter(({ key }) => key.length > 0 && key !== given);
}

function blanks(secret: string, other: string): SecretMistake[] {
  const id = "secret_has_blanks";
  const here = "the secret given here has a blank or a line end around it";
  const fix = "Remove it there: an editor, `echo` without -n or a pasted line added it.";
  const endsInLine = `the ${other}'s secret has a line end after it`;
  return [
    { key: secret, id, found: here, fix: "Give it here without." },
    { key: `${secret}\n`, id, found: endsInLine, fix },
    { key: `${secret}\r\n`, id, found: endsInLine, fix },
    { key: `${secret} `, id, found: `the ${other}'s secret has a blank after it`, fix },
    { key: ` ${secret}`, id, found: `the ${other}'s secret has a blank before it`, fix },
  ];
}

function quotes(secret: string, other: string): SecretMistake[] {
  const id = "secret_has_quotes";
  const fix = "Remove them there: Docker's --env-file, for one, takes them literally.";
  const found = `the ${other}'s secret has quotes around it`;
  const unquoted = /^(["'])(.*)\1$/s.exec(secret)?.[2] ?? "";
  return [
    { key: unquoted, id, found: "the secret given here has quotes around it", fix: "Give it here without." },
    { key: `"${secret}"`, id, found, fix },
    { key: `'${secret}'`, id, found, fix },
  ];
}

function lines(secret: string, other: string): SecretMistake[] {
  const assigned = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(secret)?.[1] ?? "";
  const line = "a whole line of an .env file";
  const fix = "What stands after the = is the secret.";
  const parts = secret.split(/[\s,;]+/).filter((part) => part !== secret);
  return [
    { key: assigned, id: "secret_is_line", found: `the secret given here is ${line}`, fix },
    { key: `SIGNALS_SECRET=${secret}`, id: "secret_is_line", found: `the ${other}'s secret is ${line}`, fix },
    ...parts.map((key) => ({
      key,
      id: "secret_is_list",
      found: `several secrets are given here as one, and the ${other} has one of them`,
      fix: "Give each with a --secret of its own, or one a line in --secret-file.",
    })),
  ];
}

function encodings(secret: string, other: string): SecretMistake[] {
  const hasPrefix = secret.startsWith(PREFIX);
  const bare = hasPrefix ? secret.slice(PREFIX.length) : secret;
  const decoded = (key: Buffer, from: string): SecretMistake => {
    const found = `the ${other} decodes the secret from ${from}`;
    return { key, id: "secret_decoded", found, fix: `${AS_SHOWN} Nothing is decoded.` };
  };
  const lacking = hasPrefix ? `the ${other}'s secret` : "the secret given here";
  return [
    {
      key: hasPrefix ? bare : PREFIX + secret,
      id: "secret_lacks_prefix",
      found: `${lacking} lacks its prefix ${PREFIX}`,
      fix: AS_SHOWN,
    },
    decoded(Buffer.from(bare, "base64"), "base64"),
    decoded(Buffer.from(secret, "base64"), "base64"),
    ...(/^(?:[0-9a-f]{2})+$/i.test(bare) ? [decoded(Buffer.from(bare, "hex"), "hex")] : []),
  ];
}
