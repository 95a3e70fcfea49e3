export type ParsedJson =
  { ok: true; value: unknown } | { ok: false; reason: "not_utf8" | "not_json" | "nested_too_deep" };

const utf8 = new TextDecoder("utf-8", { fatal: true });

// Matches the key `__proto__`, and text that could be the key with escaped letters (`__\u0070roto__`).
const PROTO = /__proto__|\\u00/;

/**
 * Parses JSON from untrusted bytes. Invalid UTF-8 is refused, because with replacement characters two different bodies would
 * be equal. A leading BOM is dropped (RFC 8259 allows it). `__proto__` keys are dropped, because `Object.assign` in the user's
 * code would run the setter and so change a prototype.
 */
export function parseJson(body: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { ok: false, reason: "not_utf8" };
  }
  try {
    // The reviver makes parsing several times slower, so it runs only for bodies that need it.
    const value: unknown = PROTO.test(text) ? JSON.parse(text, dropProto) : JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, reason: error instanceof RangeError ? "nested_too_deep" : "not_json" };
  }
}

function dropProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}
