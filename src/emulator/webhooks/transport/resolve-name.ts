import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIPv6, type LookupFunction } from "node:net";
import { mayConnect, type EndpointRules } from "../registrations/endpoint-rules.js";

/** All addresses of a name. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** The code of the error for a name with an address that may not be called. */
export const ADDRESS_REFUSED = "ADDRESS_REFUSED";

const resolveBySystem: ResolveName = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * The look-up that a connection is made with. It gives only addresses that may be called, and the connection goes to one of
 * these.
 */
export function createCheckedLookup(
  resolve: ResolveName = resolveBySystem,
  rules: EndpointRules,
): (protocol: string) => LookupFunction {
  /** One look-up of a name at a time: the system has few threads for look-ups, and a dead name blocks one for long. */
  const running = new Map<string, Promise<readonly string[]>>();

  function resolveOnce(name: string): Promise<readonly string[]> {
    const known = running.get(name);
    if (known !== undefined) return known;
    const run = resolve(name).finally(() => running.delete(name));
    running.set(name, run);
    return run;
  }

  async function find(name: string, protocol: string): Promise<LookupAddress[]> {
    const addresses = await resolveOnce(name);
    if (!mayConnect(protocol, addresses, rules)) {
      throw Object.assign(new Error("The name leads to an address that may not be called."), { code: ADDRESS_REFUSED });
    }
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  }

  // Outside of the promise: an error of the callback is no failure of the look-up.
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
