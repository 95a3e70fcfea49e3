import type { IncomingMessage } from "node:http";

/** Where a request goes. `{name}` in a path is a parameter: one segment of the address. */
interface Routed {
  method: string;
  path: string;
}

/** What is at an address. */
export interface Found<Route> {
  /** The path of its routes, with the names of the parameters. */
  address: string;
  methods: string[];
  /**
   * Undefined when the address does not support the request's method. HEAD is not answered as GET.
   */
  route: Route | undefined;
  /** The decoded parameters of the path. */
  path: Record<string, string>;
}

/**
 * Returns a function that finds the route of a request; null for an unknown address. Paths are
 * case-sensitive, and a slash at their end counts.
 */
export function createRouter<Route extends Routed>(all: readonly Route[]) {
  const addresses = [...new Set(all.map(({ path }) => path))].map((address) => {
    const routes = all.filter(({ path }) => path === address);
    return {
      address,
      routes,
      methods: routes.map(({ method }) => method),
      pattern: patternOf(address),
    };
  });
  return (request: IncomingMessage): Found<Route> | null => {
    const pathname = pathOf(request);
    for (const { address, routes, methods, pattern } of addresses) {
      const matched = pattern.exec(pathname);
      if (matched === null) continue;
      const path = decoded(matched.groups);
      return (
        path && {
          address,
          methods,
          route: routes.find(({ method }) => method === request.method),
          path,
        }
      );
    }
    return null;
  };
}

/** Converts `/tools/{slug}` to a pattern with a named group for each parameter. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

/**
 * Returns the path of a request. A client that takes the emulator for its proxy sends an absolute
 * address.
 */
function pathOf({ url = "" }: IncomingMessage): string {
  const [address = ""] = url.split("?", 1);
  return address.startsWith("/") || !URL.canParse(address) ? address : new URL(address).pathname;
}

/** Returns null when a parameter cannot be decoded. */
function decoded(parameters: Record<string, string> = {}): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(parameters).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
  } catch {
    return null;
  }
}
