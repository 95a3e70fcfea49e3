import { useEffect, useState } from "preact/hooks";
import { safely } from "../../base/errors.js";
import { address, type Query } from "./request.js";

/**
 * The view that the address names: `#/events/evt_1?q=dead` is the path `["events", "evt_1"]` and
 * the query `q=dead`.
 */
export interface Route {
  path: string[];
  query: URLSearchParams;
}

/** The address of a view. */
export function href(path: readonly string[], query?: Query): string {
  return address(
    `#/${path.map((part) => encodeURIComponent(part.toWellFormed())).join("/")}`,
    query,
  );
}

/** Shows a view. `replace`: without a new entry in the browser's history. */
export function go(path: readonly string[], query?: Query, how: "push" | "replace" = "push"): void {
  if (how === "push") location.hash = href(path, query);
  else location.replace(href(path, query));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = (): void => setHash(location.hash);
    addEventListener("hashchange", update);
    // It can have changed since the first look at it.
    update();
    return () => removeEventListener("hashchange", update);
  }, []);
  return parseRoute(hash);
}

/** What the address has of these values, or else the given ones. */
export function useQuery<Name extends string>(
  otherwise: Readonly<Record<Name, string>>,
): Record<Name, string> {
  const { query } = useRoute();
  const values = Object.entries<string>(otherwise).map(([name, value]) => [
    name,
    query.get(name) ?? value,
  ]);
  return Object.fromEntries(values) as Record<Name, string>;
}

function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {
    path:
      path === ""
        ? []
        : path.split("/").map((part) => safely(() => decodeURIComponent(part), part)),
    query: new URLSearchParams(search),
  };
}
