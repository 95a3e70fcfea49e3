import type { Scope } from "../../api/access.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountView } from "./account-view.js";
import type { Access } from "./create-access.js";
import { isSessionToken } from "./sessions.js";

/** The scopes of a session token: the two operations that accept one require no other. */
const SESSION_SCOPES: ReadonlySet<Scope> = new Set<Scope>(["research:read"]);

/** The account that calls, with the scopes of its key or session. */
export interface Caller {
  account: AccountView;
  scopes: ReadonlySet<Scope>;
  /** The key or session whose requests are counted for the rate. */
  rateHolder: string;
}

// RFC 6750: the token's characters. The scheme is read in any case, as HTTP has it.
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
  if (others.length > 0) throw refusal("API_KEY_INVALID", "The header Authorization was given more than once.");
  const token = BEARER.exec(header)?.[1];
  if (token === undefined)
    throw refusal("API_KEY_INVALID", "The header Authorization has not the form Bearer <API_KEY>.");

  if (isSessionToken(token)) {
    if (!acceptsSession) throw refusal("SESSION_INVALID", "This operation takes an API key, and no session token.");
    const session = sessions.find(token);
    const account = session === null ? null : accounts.view(session.accountId);
    if (session === null || account === null)
      throw refusal("SESSION_INVALID", "The session token is invalid or expired.");
    return { account, scopes: SESSION_SCOPES, rateHolder: session.sessionId };
  }
  const key = keys.find(token);
  const account = key === null ? null : accounts.view(key.accountId);
  if (key === null || account === null) throw refusal("API_KEY_INVALID", "There is no such API key.");
  if (key.isRevoked) throw refusal("API_KEY_REVOKED", "The API key was revoked.");
  return { account, scopes: key.scopes, rateHolder: key.keyId };
}

function refusal(
  code: "API_KEY_MISSING" | "API_KEY_INVALID" | "API_KEY_REVOKED" | "SESSION_INVALID",
  message: string,
): ServiceError {
  return new ServiceError(code, message, { headers: { "WWW-Authenticate": "Bearer" } });
}
