import { isIP } from "node:net";
import type { WebhookRegistration } from "../../../api/webhook-registration.js";
import { addressKind, isLoopbackHost } from "../../../addresses/address-kind.js";
import type { Assumptions } from "../../instance/assumptions.js";
import { ServiceError } from "../../operations/service-error.js";

/** The assumption that decides which endpoints may be called. */
export type EndpointRules = Pick<Assumptions, "allowLoopbackHttp">;

/**
 * Checks the url of a registration (service document, operation 3) as far as its text shows. The addresses of its name are
 * checked at each delivery.
 *
 * @throws ServiceError `INVALID_PARAMETERS`
 */
export function refuseEndpoint(url: string, rules: EndpointRules): void {
  const problem = endpointProblem(new URL(url), rules);
  if (problem === null) return;
  throw new ServiceError("INVALID_PARAMETERS", `url: ${problem}.`, { details: [{ parameter: "url", problem }] });
}

/**
 * The ids of registrations that were made with `allowLoopbackHttp` and get nothing without it: a file keeps registrations, and
 * not the assumptions.
 */
export function unreachableRegistrations(
  registrations: readonly WebhookRegistration[],
  rules: EndpointRules,
): string[] {
  const isAllowed = (url: string, by: EndpointRules): boolean => endpointProblem(new URL(url), by) === null;
  return registrations
    .filter(({ status }) => status !== "deleted")
    .filter(({ url }) => !isAllowed(url, rules) && isAllowed(url, { allowLoopbackHttp: true }))
    .map(({ id }) => id);
}

const SWITCH = "(start the emulator with --allow-loopback-http, or with the assumption allowLoopbackHttp)";

function endpointProblem(url: URL, rules: EndpointRules): string | null {
  const { protocol, username, password, hash } = url;
  const address = addressIn(url);
  const isLocal = address !== null && isLoopback(address);
  if (protocol !== "https:" && !(protocol === "http:" && isLocal && rules.allowLoopbackHttp)) {
    if (protocol !== "http:") return "must be an HTTPS endpoint";
    if (isLocal) return `must be an HTTPS endpoint; plain HTTP to this machine has to be allowed ${SWITCH}`;
    // A name that leads to loopback today may lead elsewhere tomorrow.
    return "must be an HTTPS endpoint; plain HTTP is only for loopback: localhost, 127.0.0.0/8, [::1]";
  }
  if (username !== "" || password !== "") return "must not hold a user name or a password";
  if (hash !== "") return "must not hold a fragment";
  if (address === null || mayConnect(protocol, [address], rules)) return null;
  return `must not lead to an address that is not public${isLocal ? `; those of this machine have to be allowed ${SWITCH}` : ""}`;
}

/** The address in a url, in any spelling; null when the url has a name that must be resolved. */
export function addressIn({ hostname }: URL): string | null {
  // The URL parser has turned each spelling into the usual one: 0x7f.1, 2130706433, １２７.0.0.1, [::ffff:7f00:1].
  const host = hostname.replaceAll(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return host;
  return isLoopbackHost(host) ? "127.0.0.1" : null;
}

const isLoopback = (address: string): boolean => addressKind(address) === "loopback";

/**
 * Whether a name with these addresses may be called. All of them have to be public, since any of them may be taken. With
 * `allowLoopbackHttp` all of them may also be loopback, and then plain HTTP is allowed.
 */
export function mayConnect(protocol: string, addresses: readonly string[], rules: EndpointRules): boolean {
  if (addresses.length === 0) return false;
  if (addresses.every((address) => addressKind(address) === "public")) return protocol === "https:";
  return rules.allowLoopbackHttp && addresses.every(isLoopback);
}
