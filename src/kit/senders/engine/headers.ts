/** The part of Fetch's `Headers` that the receiver uses. */
export interface HeadersLike {
  /** Returns the value of a header. Its name can be in any case. */
  get(name: string): string | null;
}

/**
 * Fetch's `Headers`, or an object. Names can be in any case. The value of a header that was sent
 * twice can be an array.
 */
export type RequestHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | HeadersLike;

/**
 * Finds a header whose name is in any case. If it was sent twice, its values are joined, so that
 * neither is used alone.
 *
 * @param name in lower case
 */
export function headerValue(headers: RequestHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  let found: string | undefined;
  for (const key in headers) {
    // The length is compared first, for speed: this runs for every header of every delivery.
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    const value = headers[key];
    if (value === undefined) continue;
    const text = typeof value === "string" ? value : value.join(", ");
    found = found === undefined ? text : `${found}, ${text}`;
  }
  return found;
}

/** The same for a header of several names. @returns null if they were sent with different values */
export function headerValueOf(
  headers: RequestHeaders,
  names: readonly string[],
): string | undefined | null {
  let found: string | undefined;
  for (const name of names) {
    const value = headerValue(headers, name);
    if (value === undefined || value === found) continue;
    if (found !== undefined) return null;
    found = value;
  }
  return found;
}

/** All headers, by their names in lower case. Of an object that has only `get`, none is known. */
export function recordOf(headers: RequestHeaders): Readonly<Record<string, string>> {
  const names = isHeaders(headers)
    ? [...((headers as Partial<Headers>).keys?.() ?? [])]
    : Object.keys(headers).map((name) => name.toLowerCase());
  return Object.fromEntries(names.map((name) => [name, headerValue(headers, name) ?? ""]));
}

function isHeaders(headers: RequestHeaders): headers is HeadersLike {
  return typeof headers["get"] === "function";
}
