import type { Scope } from "../../api/access.js";
import type { ServiceErrorCode } from "../../api/error-envelope.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountView } from "./accounts.js";
import type { Access } from "./create-access.js";
import { isSessionToken } from "./sessions.js";

/** The scopes of a session token. The two operations that accept session tokens require no other scope. */
const SESSION_SCOPES: ReadonlySet<Scope> = new Set<Scope>(["research:read"]);

export interface Caller {
  account: AccountView;
  /** The scopes of the key or the session. */
  scopes: ReadonlySet<Scope>;
  /** The id of the key or the session, for the request rate. */
  rateHolder: string;
}

// A token in the characters of RFC 6750, after the scheme `Bearer`. HTTP ignores the case of the scheme.
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Finds the caller of a request (service document, Authentication).
 *
 * @param authorization each `Authorization` header of the request
 * @throws ServiceError 401
 */
export function authenticate(
  authorization: readonly string[],
  { keys, sessions, accounts }: Access,
  { acceptsSession }: { acceptsSession: boolean },
): Caller {
  const [header, ...others] = authorization;
  if (header === undefined) throw refusal("API_KEY_MISSING", "The header Authorization: Bearer <API_KEY> is missing.");
  const token = others.length > 0 ? undefined : BEARER.exec(header)?.[1];
  if (token === undefined) throw refusal("API_KEY_INVALID", "Send one header Authorization: Bearer <API_KEY>.");

  if (isSessionToken(token)) {
    if (!acceptsSession) throw refusal("SESSION_INVALID", "This operation takes an API key, not a session token.");
    const session = sessions.find(token);
    // After an older snapshot was loaded, the account of a valid session may be missing: the session is then invalid.
    const account = session && accounts.view(session.accountId);
    if (!session || !account) throw refusal("SESSION_INVALID", "The session token is invalid or expired.");
    return { account, scopes: SESSION_SCOPES, rateHolder: session.sessionId };
  }
  const key = keys.find(token);
  const account = key && accounts.view(key.accountId);
  if (!key || !account) throw refusal("API_KEY_INVALID", "The API key does not exist.");
  if (key.isRevoked) throw refusal("API_KEY_REVOKED", "The API key was revoked.");
  return { account, scopes: key.scopes, rateHolder: key.keyId };
}

const refusal = (code: ServiceErrorCode, message: string): ServiceError =>
  new ServiceError(code, message, { headers: { "WWW-Authenticate": "Bearer" } });
