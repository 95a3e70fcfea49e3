export type ParsedJson =
  { ok: true; value: unknown } | { ok: false; reason: "not_utf8" | "not_json" | "nested_too_deep" };

const utf8 = new TextDecoder("utf-8", { fatal: true });

// Matches the key `__proto__`, and text that could be the key with escaped letters
// (`__\u0070roto__`).
const PROTO = /__proto__|\\u00(?:[56][fF]|7[024])/;

/**
 * A shorter text is not looked through before it is parsed: at any depth it takes less than 40 ms.
 */
const LARGE_LENGTH = 262_144;
const MOST_LEVELS = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses JSON from untrusted bytes. Invalid UTF-8 is refused, because with replacement characters
 * two different bodies would be equal. A body above 256 KiB that is nested deeper than 1,000 levels
 * is refused: `JSON.parse` takes half a second for each million levels. A leading BOM is dropped
 * (RFC 8259 allows it). `__proto__` keys are dropped, because `Object.assign` in the user's code
 * would run the setter and so change a prototype.
 */
export function parseJson(body: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { ok: false, reason: "not_utf8" };
  }
  if (text.length > LARGE_LENGTH && isTooDeep(body))
    return { ok: false, reason: "nested_too_deep" };
  try {
    // The reviver makes parsing several times slower, so it runs only for bodies that need it.
    const value: unknown = PROTO.test(text) ? JSON.parse(text, dropProto) : JSON.parse(text);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, reason: error instanceof RangeError ? "nested_too_deep" : "not_json" };
  }
}

/**
 * Follows JSON as its parser does, up to the first mistake in it. Behind that the parser does not
 * read.
 */
function isTooDeep(body: Uint8Array): boolean {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === QUOTE) isText = !isText;
    else if (isText) index += byte === BACKSLASH ? 1 : 0;
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > MOST_LEVELS) return true;
  }
  return false;
}

function dropProto(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}
