import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIPv6, type LookupFunction } from "node:net";
import { mayConnect, type EndpointRules } from "../registrations/endpoint-rules.js";

/** Returns all addresses of a name. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** The code of the error for a name that resolves to a forbidden address. */
export const ADDRESS_REFUSED = "ADDRESS_REFUSED";

const resolveBySystem: ResolveName = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Makes the `lookup` option of requests. The look-up fails if {@link mayConnect} forbids the name's
 * addresses. Otherwise the connection uses one of the checked addresses.
 */
export function createCheckedLookup(
  resolve: ResolveName = resolveBySystem,
  rules: EndpointRules,
): (protocol: string) => LookupFunction {
  async function find(name: string, protocol: string): Promise<LookupAddress[]> {
    const addresses = await resolve(name);
    if (!mayConnect(protocol, addresses, rules)) {
      throw Object.assign(new Error("The name resolves to a forbidden address."), {
        code: ADDRESS_REFUSED,
      });
    }
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  }

  // `setImmediate` calls the callback outside of the promise, so an error that the callback throws
  // does not count as a failed look-up.
  return (protocol) => (name, options, callback) => {
    find(name, protocol).then(
      (found) => {
        if (options.all === true) setImmediate(callback, null, found);
        else setImmediate(callback, null, found[0]?.address ?? "", found[0]?.family);
      },
      (error: Error) => setImmediate(callback, error, ""),
    );
  };
}
