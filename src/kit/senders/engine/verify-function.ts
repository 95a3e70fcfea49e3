import { addressOf, type CompiledScheme } from "./compile-scheme.js";
import { recordOf } from "./headers.js";
import type { PublicUrl } from "./scheme.js";

/** What `verify` of a sender gets. */
export interface VerifiedRequest {
  /** All of the request, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The address by `publicUrl`; without it, the path and query of the request. */
  readonly url: string;
  /** One of the receiver's secrets. `verify` is called with each. */
  readonly secret: string;
  /** When the delivery arrived, in milliseconds since 1970. */
  readonly now: number;
}

/** Whether a delivery is authentic and fresh: only `true` says so. */
export type VerifyDelivery = (request: VerifiedRequest) => boolean | Promise<boolean>;

/** A sender whose deliveries a function verifies. For tests it signs nothing: give the headers. */
export function compileVerify(
  verify: VerifyDelivery,
  publicUrl: PublicUrl | undefined,
): CompiledScheme {
  return {
    headers: [],
    signedHeaders: [],
    signatureHeaders: [],
    secretProblem: () => null,
    signature(sent, requestUrl = "") {
      const url = publicUrl === undefined ? requestUrl : addressOf(publicUrl, requestUrl);
      const headers = recordOf(sent);
      return {
        ok: true,
        matches: () => false,
        signedAt: () => null,
        async verify(body, secret, now) {
          try {
            const answer: unknown =
              url === null ? false : await verify({ headers, body, url, secret, now });
            return answer === true;
          } catch {
            return false;
          }
        },
      };
    },
    sign: () => ({}),
  };
}
