import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { assertSecret, OTHER_HELP } from "../signature/sign.js";
import { namesOf, type CompiledScheme } from "./compile-scheme.js";
import { headerValueOf } from "./headers.js";

/**
 * A sender that sends the secret itself in a header. That proves who sent a delivery, and not what:
 * whoever reads one, such as a proxy or a log, can send others. The header is not stored, handed on
 * or shown.
 */
export interface TokenScheme {
  /** The header with the secret, or its names. */
  readonly header: string | readonly string[];
  readonly token: true;
  /** What stands before the secret, such as `Bearer `. */
  readonly prefix?: string | undefined;
  /** The header with the event's id. */
  readonly id?: string | undefined;
}

/** The same by HTTP's Basic authentication. The secret is `user:password`. */
export interface BasicScheme {
  readonly basic: true;
  /** The header with the event's id. */
  readonly id?: string | undefined;
}

export function compileToken(scheme: TokenScheme): CompiledScheme {
  const { header, id, prefix = "" } = scheme;
  return compileSecretHeader(namesOf(header), namesOf(id), prefix, (secret) => secret);
}

export function compileBasic(scheme: BasicScheme): CompiledScheme {
  return {
    ...compileSecretHeader(["authorization"], namesOf(scheme.id), "Basic ", inBase64),
    secretProblem: (secret) => (secret.includes(":") ? null : "expected user:password"),
  };
}

function inBase64(secret: string): string {
  return Buffer.from(secret).toString("base64");
}

function compileSecretHeader(
  headers: readonly string[],
  ids: readonly string[],
  prefix: string,
  expected: (secret: string) => string,
): CompiledScheme {
  return {
    headers: ids,
    signedHeaders: headers.slice(0, 1),
    signatureHeaders: headers,
    secretProblem: () => null,
    signature(sent) {
      const value = headerValueOf(sent, headers);
      if (value === undefined) return { ok: false, reason: "signature_missing" };
      if (value === null || value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase())
        return { ok: false, reason: "signature_malformed" };
      const digest = digestOf(value.slice(prefix.length));
      return {
        ok: true,
        matches: (_body, secret) => timingSafeEqual(digestOf(expected(secret)), digest),
        signedAt: () => null,
      };
    },
    sign(_body, { secret, given }) {
      assertSecret(secret, OTHER_HELP);
      const made = ids.slice(0, 1).map((name) => [name, given[name] ?? `msg_${randomUUID()}`]);
      return { ...Object.fromEntries(made), [headers[0] as string]: prefix + expected(secret) };
    },
  };
}

/** Hashed, the two texts have one length, which `timingSafeEqual` needs. */
function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
