import { quoted } from "./failed-call.js";

/**
 * What a fetch threw, as an error that holds nothing of the request: an implementation of one's own may have put its headers
 * into the error. The innermost cause says most: Node's fetch itself says "fetch failed" only.
 */
export function plainCause(error: unknown, clean: (text: string) => string): Error & { code?: string } {
  let innermost: unknown = error;
  for (let depth = 0; depth < 8 && innermost instanceof Error && innermost.cause instanceof Error; depth++) {
    innermost = innermost.cause;
  }
  const { name, message, code } = fieldsOf(innermost);
  // Several addresses that were tried in vain: only the code says something.
  const plain: Error & { code?: string } = new Error(quoted(clean(message === "" ? (code ?? name) : message)));
  plain.name = clean(name);
  if (code !== null) plain.code = clean(code);
  return plain;
}

function fieldsOf(error: unknown): { name: string; message: string; code: string | null } {
  if (!(error instanceof Error)) return { name: "Error", message: "what was thrown is no error", code: null };
  const code = (error as Error & { code?: unknown }).code;
  return { name: error.name, message: error.message, code: typeof code === "string" ? code : null };
}
