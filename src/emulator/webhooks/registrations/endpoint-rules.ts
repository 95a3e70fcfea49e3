import { isIP } from "node:net";
import { addressKind, isLoopbackHost } from "../../../addresses/address-kind.js";
import type { Assumptions } from "../../instance/assumptions.js";
import { ServiceError } from "../../operations/service-error.js";

/** Which endpoints may be called. */
export type EndpointRules = Pick<Assumptions, "allowLoopbackHttp">;

/**
 * The rules of a registered url (service document, operation 3), as far as its text shows them; the addresses that its
 * name resolves to are looked at when something is sent.
 *
 * @throws ServiceError `INVALID_PARAMETERS`
 */
export function refuseEndpoint(url: string, rules: EndpointRules): void {
  const problem = endpointProblem(new URL(url), rules);
  if (problem === null) return;
  throw new ServiceError("INVALID_PARAMETERS", `url: ${problem}.`, { details: [{ parameter: "url", problem }] });
}

/** Whether an endpoint that was registered once may be called under these rules, as far as its text shows. */
export function mayBeCalled(url: string, rules: EndpointRules): boolean {
  return endpointProblem(new URL(url), rules) === null;
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
    return "must be an HTTPS endpoint; plain HTTP is for loopback alone: localhost, 127.0.0.0/8, [::1]";
  }
  if (username !== "" || password !== "") return "must not hold a user name or a password";
  if (hash !== "") return "must not hold a fragment";
  if (address === null || mayConnect(protocol, [address], rules)) return null;
  return `must not lead to an address that is not public${isLocal ? `; this machine's have to be allowed ${SWITCH}` : ""}`;
}

/** The address that a url names, however it is spelt; null when it has to be resolved. */
export function addressIn({ hostname }: URL): string | null {
  // The parser of URLs has made every spelling the usual one: 0x7f.1, 2130706433, １２７.0.0.1, [::ffff:7f00:1].
  const host = hostname.replaceAll(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return host;
  return isLoopbackHost(host) ? "127.0.0.1" : null;
}

const isLoopback = (address: string): boolean => addressKind(address) === "loopback";

/**
 * Whether a name with these addresses may be called: all of them have to be public, so that it makes no difference which
 * one is taken. With the switch for loopback, all of them this machine's, then over plain HTTP too.
 */
export function mayConnect(protocol: string, addresses: readonly string[], rules: EndpointRules): boolean {
  if (addresses.length === 0) return false;
  if (addresses.every((address) => addressKind(address) === "public")) return protocol === "https:";
  return rules.allowLoopbackHttp && addresses.every(isLoopback);
}
