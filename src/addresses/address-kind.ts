import ipaddr from "ipaddr.js";

/**
 * Where an address leads. `public`: anyone on the internet may reach it. `loopback`: it never leaves this machine. Any
 * other value is the name that ipaddr.js gives to a special range, such as `private` or `linkLocal`.
 */
export type AddressKind = "public" | "loopback" | (string & {});

/** All public IPv6 addresses are in this range; the others are reserved, or carry an IPv4 address. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Looks public, but in Azure the machine's own host answers on it. */
const AZURE_HOST = "168.63.129.16";

/**
 * Where an address leads. `::ffff:10.0.0.1` is an IPv4 address in the form of IPv6, and is judged as that. Addresses that a
 * gateway translates to IPv4 (NAT64, 6to4, Teredo) are not public: what they reach depends on the gateway.
 *
 * @param address as the system writes it; a zone (`%eth0`) makes no difference
 */
export function addressKind(address: string): AddressKind {
  const withoutZone = address.replace(/%.*$/, "");
  if (!ipaddr.isValid(withoutZone)) return "invalid";
  const parsed = ipaddr.process(withoutZone);
  if (parsed.range() !== "unicast") return parsed.range();
  const isPublic = parsed instanceof ipaddr.IPv6 ? parsed.match(PUBLIC_IPV6) : parsed.toString() !== AZURE_HOST;
  return isPublic ? "public" : "reserved";
}

/**
 * Whether a host leads to this machine whichever resolver is asked: `localhost`, 127.0.0.0/8 and `::1`. Other names are not
 * trusted, `*.localhost` included: some resolvers ask the network for them.
 *
 * @param host a name or an address, as in a URL; an IPv6 address may have its brackets
 */
export function isLoopbackHost(host: string): boolean {
  const name = host.replaceAll(/^\[|\]$|\.$/g, "").toLowerCase();
  return name === "localhost" || addressKind(name) === "loopback";
}
