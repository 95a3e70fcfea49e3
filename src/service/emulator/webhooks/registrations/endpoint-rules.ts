import { isIP } from "node:net";
import { addressKind, isLoopbackHost } from "../../../../base/addresses/address-kind.js";
import type { Assumptions } from "../../instance/assumption-options.js";
import { ServiceError } from "../../operations/service-error.js";

/** The assumption that decides which endpoints are allowed. */
export type EndpointRules = Pick<Assumptions, "allowLoopbackHttp">;

/**
 * Checks the text of a registration's url (service document, operation 3). The addresses of a name
 * are checked when a delivery connects.
 *
 * @throws ServiceError `INVALID_PARAMETERS`
 */
export function refuseEndpoint(url: string, rules: EndpointRules): void {
  const problem = endpointProblem(new URL(url), rules);
  if (problem === null) return;
  throw new ServiceError("INVALID_PARAMETERS", `url: ${problem}.`, {
    details: [{ parameter: "url", problem }],
  });
}

const SWITCH =
  "start the emulator with --allow-loopback-http, or with the assumption allowLoopbackHttp";

function endpointProblem(url: URL, rules: EndpointRules): string | null {
  const { protocol, username, password, hash } = url;
  const address = addressIn(url);
  const isLocal = address !== null && isLoopback(address);
  if (protocol !== "https:" && !(protocol === "http:" && isLocal && rules.allowLoopbackHttp)) {
    if (protocol !== "http:") return "must be an HTTPS endpoint";
    if (isLocal) return `must be an HTTPS endpoint. To allow http:// to this machine, ${SWITCH}`;
    // Other names are refused even if they resolve to loopback now, since that can change.
    return "must be an HTTPS endpoint. Only localhost, 127.0.0.0/8 and [::1] can be allowed with http://";
  }
  if (username !== "" || password !== "") return "must not hold a user name or a password";
  if (hash !== "") return "must not hold a fragment";
  if (address === null || mayConnect(protocol, [address], rules)) return null;
  return `must have a public address${isLocal ? `. To allow addresses of this machine, ${SWITCH}` : ""}`;
}

/** Returns the IP address in a url; null when the url has a name that must be resolved. */
export function addressIn({ hostname }: URL): string | null {
  // The URL parser has normalised spellings such as 0x7f.1, 2130706433, １２７.0.0.1, [::ffff:7f00:1].
  const host = hostname.replaceAll(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return host;
  return isLoopbackHost(host) ? "127.0.0.1" : null;
}

const isLoopback = (address: string): boolean => addressKind(address) === "loopback";

/**
 * Whether requests to a name with these addresses are allowed. All addresses must be public,
 * because the connection can use any of them. With `allowLoopbackHttp` they can instead all be
 * loopback, even with plain HTTP.
 */
export function mayConnect(
  protocol: string,
  addresses: readonly string[],
  rules: EndpointRules,
): boolean {
  if (addresses.length === 0) return false;
  if (addresses.every((address) => addressKind(address) === "public")) return protocol === "https:";
  return rules.allowLoopbackHttp && addresses.every(isLoopback);
}
