/** Why a text is no JSON that the service takes. */
export type JsonProblem = "is not UTF-8" | "is not JSON" | "is nested too deeply" | "has a key more than once";

const DEEPEST = 32;
/** The tokens of a text that is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON as RFC 8259 has it, and a little stricter: no mark at its beginning, no key twice, not too deep. */
export function parseJson(bytes: Uint8Array): { value: unknown } | { problem: JsonProblem } {
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
  const problem = findProblem(text);
  return problem === null ? { value } : { problem };
}

function findProblem(text: string): JsonProblem | null {
  /** The keys of each object that is open; null for an array. */
  const open: (Set<string> | null)[] = [];
  let isKeyNext = false;
  for (const [token] of text.matchAll(TOKENS)) {
    const keys = open.at(-1);
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > DEEPEST) return "is nested too deeply";
      isKeyNext = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
      isKeyNext = false;
    } else if (token === ",") {
      isKeyNext = keys instanceof Set;
    } else if (isKeyNext && keys instanceof Set && token !== ":") {
      const key = JSON.parse(token) as string;
      if (keys.has(key)) return "has a key more than once";
      keys.add(key);
      isKeyNext = false;
    }
  }
  return null;
}
