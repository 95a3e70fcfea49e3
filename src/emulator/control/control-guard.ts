import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { addressKind, isLoopbackHost } from "../../addresses/address-kind.js";
import { ServiceError } from "../operations/service-error.js";

/** Lets a request of the control API pass. @throws ServiceError 401 or 403 for one that may not */
export type ControlGuard = (request: IncomingMessage) => void;

/** @param controlToken what a caller has to present; null: callers on this machine need nothing, and others are refused */
export function createControlGuard(controlToken: string | null): ControlGuard {
  return controlToken === null ? assertLocal : tokenGuard(controlToken);
}

/** The token is enough, from any address and under any name: a page of another site does not know it. */
function tokenGuard(controlToken: string): ControlGuard {
  const expected = digestOf(controlToken);
  return ({ headersDistinct }) => {
    const [header, ...others] = headersDistinct["authorization"] ?? [];
    if (header === undefined) throw tokenError("API_KEY_MISSING", "is missing");
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1] ?? "";
    // Digests have one length, so the comparison takes the same time for each token.
    if (others.length > 0 || !timingSafeEqual(digestOf(token), expected)) {
      throw tokenError("API_KEY_INVALID", "does not hold the control token");
    }
  };
}

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

function tokenError(code: "API_KEY_MISSING" | "API_KEY_INVALID", problem: string): ServiceError {
  const message = `The control API takes Authorization: Bearer <control token>; this header ${problem}.`;
  return new ServiceError(code, message, { headers: { "WWW-Authenticate": "Bearer" } });
}

/**
 * Without a token the control API answers only callers on this machine. It refuses other machines, pages of other sites in a
 * browser of this machine, and names of other sites that were made to lead here (DNS rebinding).
 *
 * @throws ServiceError 403
 */
function assertLocal({ headers, headersDistinct, socket }: IncomingMessage): void {
  const host = headers.host ?? "";
  const hostname = host.replace(/:\d+$/, "");
  const isLocal = isLoopbackHost(hostname) && addressKind(socket.remoteAddress ?? "") === "loopback";
  const { origin } = headers;
  const site = headersDistinct["sec-fetch-site"] ?? [];
  const isOwnPage =
    (origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase()) &&
    site.every((value) => value === "same-origin" || value === "none");
  if (!isLocal || !isOwnPage) {
    throw new ServiceError(
      "ACCESS_INSUFFICIENT",
      "The control API answers only this machine, by a name of loopback, unless the emulator has a control token.",
    );
  }
  // The dashboard of the service rejects API keys (service document, Authentication 3), and so does its stand-in.
  if (headers.authorization !== undefined) {
    throw new ServiceError("API_KEY_NOT_ALLOWED", "The control API takes no key; leave Authorization out.");
  }
}
