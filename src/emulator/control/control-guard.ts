import type { IncomingMessage } from "node:http";
import { ServiceError } from "../operations/service-error.js";

/** Names and addresses of this machine for itself, with or without a port. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;

/** Whether a `Host` names this machine for itself, as the control API is asked. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host);

/**
 * The control API has no key, so it is for this machine alone: not for others, not for a page of another site in a
 * browser of this machine, and not for one whose name was made to lead here.
 *
 * @throws ServiceError 403
 */
export function assertLocal({ headers, headersDistinct, socket }: IncomingMessage): void {
  const host = headers.host ?? "";
  const isLocal = isLoopbackHost(host) && LOOPBACK_ADDRESS.test(socket.remoteAddress ?? "");
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
