/** More than any sender sends. To sort very many would take long, before anything is proved. */
const MOST_PARAMETERS = 1000;

const PLUS = 0x2b;
const BLANK = 0x20;

/** The parameters of a form, in their order. @returns null for too many */
export function parametersOf(body: Uint8Array): URLSearchParams | null {
  const bytes = Buffer.from(body);
  // Node takes long to parse very many of +. A blank means the same.
  for (let index = bytes.indexOf(PLUS); index >= 0 && index < bytes.length; index++)
    if (bytes[index] === PLUS) bytes[index] = BLANK;
  const text = bytes.toString("utf8");
  const isTooLong = text.split("&", MOST_PARAMETERS + 1).length > MOST_PARAMETERS;
  return isTooLong ? null : new URLSearchParams(text);
}
