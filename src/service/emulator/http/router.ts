import type { IncomingMessage } from "node:http";

/** What is at an address. */
interface Found<Route> {
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
 *
 * @param routes by method and path, such as `GET /tools/{slug}`. `{name}` is a parameter: one
 * segment of the address.
 */
export function createRouter<Route>(routes: Readonly<Record<string, Route>>) {
  const addresses = new Map<string, { pattern: RegExp; byMethod: Map<string, Route> }>();
  for (const [name, route] of Object.entries(routes)) {
    const [method = "", address = ""] = name.split(" ");
    const known = addresses.get(address) ?? { pattern: patternOf(address), byMethod: new Map() };
    known.byMethod.set(method, route);
    addresses.set(address, known);
  }
  return ({ url = "", method = "" }: IncomingMessage): Found<Route> | null => {
    const [pathname = ""] = url.split("?", 1);
    for (const [address, { pattern, byMethod }] of addresses) {
      const matched = pattern.exec(pathname);
      if (matched === null) continue;
      const path = decoded(matched.groups);
      if (path === null) return null;
      const route = byMethod.get(method);
      return { address, methods: [...byMethod.keys()], route, path };
    }
    return null;
  };
}

/** Converts `/tools/{slug}` to a pattern with a named group for each parameter. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

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
