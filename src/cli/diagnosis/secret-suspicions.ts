/** A key that may be the one that signed, and what then is wrong with the secret that was given. */
export interface SecretSuspicion {
  key: string | Buffer;
  cause: string;
}

const PREFIX = "whsec_";

/** What usually is wrong with a secret, put right. None of the causes holds a part of it. */
export function* secretSuspicions(secret: string): Generator<SecretSuspicion> {
  const trimmed = secret.trim();
  if (trimmed !== secret) yield { key: trimmed, cause: "there is a blank or a line end around the secret: remove it" };
  yield { key: `${trimmed}\n`, cause: "the signer's secret has a line end after it: remove it there" };
  yield { key: `${trimmed}\r\n`, cause: "the signer's secret has a line end after it: remove it there" };
  yield { key: `${trimmed} `, cause: "the signer's secret has a blank after it: remove it there" };
  const unquoted = /^(["'])(.*)\1$/s.exec(trimmed)?.[2];
  if (unquoted !== undefined) yield { key: unquoted, cause: "there are quotes around the secret: remove them" };
  const assigned = /^(?:export\s+)?\w+=["']?(.*?)["']?$/s.exec(trimmed)?.[1];
  if (assigned !== undefined) {
    yield { key: assigned, cause: "the secret is a whole line of an .env file: give what stands after the =" };
  }
  yield* prefixSuspicions(trimmed);
}

function* prefixSuspicions(secret: string): Generator<SecretSuspicion> {
  const rest = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : null;
  if (rest === null) {
    yield { key: PREFIX + secret, cause: `the secret lacks its prefix ${PREFIX}: the whole secret is the key` };
  } else {
    yield { key: rest, cause: `the signer dropped the prefix ${PREFIX}: the whole secret is the key` };
  }
  const decoded = "the signer decoded the secret: the key is its text as it stands, not what it";
  const bare = rest ?? secret;
  yield { key: Buffer.from(bare, "base64"), cause: `${decoded} is base64 for` };
  yield { key: Buffer.from(secret, "base64"), cause: `${decoded} is base64 for` };
  if (/^(?:[0-9a-f]{2})+$/i.test(bare)) yield { key: Buffer.from(bare, "hex"), cause: `${decoded} is hex for` };
}
