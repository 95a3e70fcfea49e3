/** More than any sender sends. To sort very many would take long, before anything is proved. */
const MOST_PARAMETERS = 1000;

/** The parameters of a form, in their order. @returns null for too many */
export function parametersOf(body: Uint8Array): URLSearchParams | null {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const isTooLong = text.split("&", MOST_PARAMETERS + 1).length > MOST_PARAMETERS;
  return isTooLong ? null : new URLSearchParams(text);
}
