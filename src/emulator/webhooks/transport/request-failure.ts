import { ADDRESS_REFUSED } from "./resolve-name.js";

/** Why a request got no answer; `address_refused` and `aborted` are the service's own doing. */
export type RequestFailure =
  | "timed_out"
  | "connection_refused"
  | "connection_reset"
  | "name_unresolved"
  | "address_refused"
  | "tls_failed"
  | "answer_unreadable"
  | "unreachable"
  | "aborted";

const BY_CODE: readonly (readonly [codes: RegExp, failure: RequestFailure])[] = [
  [new RegExp(`^${ADDRESS_REFUSED}$`), "address_refused"],
  [/^ECONNREFUSED$/, "connection_refused"],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, "connection_reset"],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, "name_unresolved"],
  [/^ETIMEDOUT$/, "timed_out"],
  [/^HPE_/, "answer_unreadable"],
  [/CERT|TLS|SSL|^EPROTO$|^UNABLE_TO_|HOSTNAME_MISMATCH/, "tls_failed"],
];

export function failureOf(error: Error): RequestFailure {
  const code = "code" in error ? String(error.code) : "";
  return BY_CODE.find(([codes]) => codes.test(code))?.[1] ?? "unreachable";
}
