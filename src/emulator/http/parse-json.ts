/** Why a text is no JSON that the service takes. */
export type JsonProblem = { problem: "is not UTF-8" | "is not JSON" | "is nested too deeply" } | RepeatedKey;

/** A key that an object has twice, with those that lead to it. */
interface RepeatedKey {
  key: string[];
}

/** An object or a list that is open: the keys of the object so far, and where in it we are. */
interface Open {
  keys: Set<string> | null;
  at: string | number;
}

const DEEPEST = 32;
/** The tokens of a text that is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON as RFC 8259 has it, and a little stricter: no mark at its beginning, no key twice, not too deep. */
export function parseJson(bytes: Uint8Array): { value: unknown } | JsonProblem {
  let text: string;
  let value: unknown;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { problem: "is not UTF-8" };
  }
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON" };
  }
  return findProblem(text) ?? { value };
}

function findProblem(text: string): JsonProblem | null {
  const open: Open[] = [];
  let isKeyNext = false;
  for (const [token] of text.matchAll(TOKENS)) {
    const inner = open.at(-1);
    if (token === "{" || token === "[") {
      open.push(token === "{" ? { keys: new Set(), at: "" } : { keys: null, at: 0 });
      if (open.length > DEEPEST) return { problem: "is nested too deeply" };
      isKeyNext = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isKeyNext = false;
    } else if (token === ",") {
      isKeyNext = inner?.keys instanceof Set;
      if (typeof inner?.at === "number") inner.at++;
    } else if (isKeyNext && inner?.keys instanceof Set && token !== ":") {
      inner.at = JSON.parse(token) as string;
      if (inner.keys.has(inner.at)) return { key: open.map(({ at }) => String(at)) };
      inner.keys.add(inner.at);
      isKeyNext = false;
    }
  }
  return null;
}
