import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isLoopbackRequest } from "../../../base/addresses/loopback-request.js";
import { ServiceError } from "../operations/service-error.js";

/** Refuses callers that are not allowed to use the control API. @throws ServiceError 401 or 403 */
export type ControlGuard = (request: IncomingMessage) => void;

/**
 * @param controlToken the token that callers must send; null: callers on this machine need no
 * token, and others are refused
 */
export function createControlGuard(controlToken: string | null): ControlGuard {
  return controlToken === null ? assertLocal : tokenGuard(controlToken);
}

/**
 * Accepts the token from any address and under any host name, because a web page of another site
 * does not know the token.
 */
function tokenGuard(controlToken: string): ControlGuard {
  const expected = digestOf(controlToken);
  return ({ headersDistinct }) => {
    const [header, ...others] = headersDistinct["authorization"] ?? [];
    const token = /^bearer +(\S+) *$/i.exec(header ?? "")?.[1] ?? "";
    // The digests have the same length, so the comparison takes the same time for every token.
    if (others.length === 0 && timingSafeEqual(digestOf(token), expected)) return;
    const code = header === undefined ? "API_KEY_MISSING" : "API_KEY_INVALID";
    const message = "The control API requires the header Authorization: Bearer <control token>.";
    throw new ServiceError(code, message, { headers: { "WWW-Authenticate": "Bearer" } });
  };
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/**
 * Without a token the control API answers only callers on this machine. It refuses other machines,
 * proxies, and pages of other sites in a browser on this machine.
 *
 * @throws ServiceError 403
 */
function assertLocal(request: IncomingMessage): void {
  const { headers, headersDistinct } = request;
  const { origin } = headers;
  const site = headersDistinct["sec-fetch-site"] ?? [];
  const isOwnPage =
    (origin === undefined || origin.toLowerCase() === `http://${headers.host}`.toLowerCase()) &&
    site.every((value) => value === "same-origin" || value === "none");
  if (!isLoopbackRequest(request) || !isOwnPage) {
    throw new ServiceError(
      "ACCESS_INSUFFICIENT",
      "Without a control token, the control API answers only callers on this machine, at localhost or a loopback address, and not through a proxy.",
    );
  }
  // API keys are refused, as in the service's dashboard, which the control API replaces (service
  // document, Authentication 3).
  if (headers.authorization !== undefined) {
    throw new ServiceError(
      "API_KEY_NOT_ALLOWED",
      "The control API does not take API keys. Remove the header Authorization.",
    );
  }
}
