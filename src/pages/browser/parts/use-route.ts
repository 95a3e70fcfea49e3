import { useEffect, useState } from "preact/hooks";

/** The view that the address names: `#/events/evt_1?q=dead` is the path `["events", "evt_1"]` and the query `q=dead`. */
export interface Route {
  path: string[];
  query: URLSearchParams;
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a view. Values of the query that are undefined or empty are left out. */
export function href(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((each): each is [string, string] => (each[1] ?? "") !== "");
  const search = given.length === 0 ? "" : `?${String(new URLSearchParams(given))}`;
  return `#/${path.map((part) => encodeURIComponent(part.toWellFormed())).join("/")}${search}`;
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

function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path === "" ? [] : path.split("/").map(decoded), query: new URLSearchParams(search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
