import type { IncomingMessage } from "node:http";
import { addressKind, isLoopbackHost } from "../../addresses/address-kind.js";
import { ServiceError } from "../operations/service-error.js";

/**
 * The control API has no key, so it is for this machine alone: not for others, not for a page of another site in a
 * browser of this machine, and not for one whose name was made to lead here.
 *
 * @throws ServiceError 403
 */
export function assertLocal({ headers, headersDistinct, socket }: IncomingMessage): void {
  const host = headers.host ?? "";
  const hostname = host.replace(/:\d+$/, "");
  const isLocal = isLoopbackHost(hostname) && addressKind(socket.remoteAddress ?? "") === "loopback";
  const { origin } = headers;
  const site = headersDistinct["sec-fetch-site"] ?? [];
  const isOwnPage =
    (origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase()) &&
    site.every((value) => value === "same-origin" || value === "none");
  if (!isLocal || !isOwnPage) {
    throw new ServiceError("ACCESS_INSUFFICIENT", "The control API answers this machine alone, by a name of loopback.");
  }
  // What stands in for the dashboard rejects API keys (service document, Authentication 3).
  if (headers.authorization !== undefined) {
    throw new ServiceError("API_KEY_NOT_ALLOWED", "The control API takes no key; leave Authorization out.");
  }
}
