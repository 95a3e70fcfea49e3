import ipaddr from "ipaddr.js";

/**
 * `public`: reachable from the internet. `loopback`: this machine. Any other value is the name that
 * ipaddr.js gives to a special range, such as `private` or `linkLocal`.
 */
export type AddressKind = "public" | "loopback" | (string & {});

/** All public IPv6 addresses are in this range. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Looks public, but in Azure it is a service of the virtual machine's host, so it counts as
 * `reserved`.
 */
const AZURE_HOST = "168.63.129.16";

/**
 * Classifies an address. An IPv4 address in IPv6 form (`::ffff:10.0.0.1`) is classified as IPv4.
 * Addresses that a gateway translates to IPv4 (NAT64, 6to4, Teredo) are not public, because their
 * target depends on the gateway.
 *
 * @param address its zone (`%eth0`) is ignored
 */
export function addressKind(address: string): AddressKind {
  const withoutZone = address.replace(/%.*$/, "");
  if (!ipaddr.isValid(withoutZone)) return "invalid";
  const parsed = ipaddr.process(withoutZone);
  if (parsed.range() !== "unicast") return parsed.range();
  const isPublic =
    parsed instanceof ipaddr.IPv6 ? parsed.match(PUBLIC_IPV6) : parsed.toString() !== AZURE_HOST;
  return isPublic ? "public" : "reserved";
}

/**
 * Whether a host is this machine for every resolver: `localhost`, 127.0.0.0/8 and `::1`. Other
 * names are not trusted, not even `*.localhost`, because some resolvers ask the network for them.
 *
 * @param host a name or an address; an IPv6 address can be in brackets
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.replaceAll(/^\[|\]$|\.$/g, "").toLowerCase();
  return name === "localhost" || addressKind(name) === "loopback";
}
