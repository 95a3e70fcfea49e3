import { jsonRespellings } from "./json-respellings.js";

/** Bytes that may be the ones that were signed, and what then happened to them. */
export interface BodySuspicion {
  body: Buffer;
  cause: string;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
/** Beyond it the file is hardly a delivery, and sixty spellings of it take a while. */
const MAX_RESPELT_BYTES = 1024 * 1024;

/** What usually happens to a body between the wire and a file, undone. The likely ones come first. */
export function* bodySuspicions(body: Buffer): Generator<BodySuspicion> {
  yield* lineEnds(body);
  if (body.subarray(0, 3).equals(BOM)) {
    yield { body: body.subarray(3), cause: "a byte order mark was added in front of the body (an editor does that)" };
  } else {
    yield { body: Buffer.concat([BOM, body]), cause: "the byte order mark in front of the body was dropped" };
  }
  if (body.byteLength > MAX_RESPELT_BYTES) return;
  const text = body.toString("utf8");
  for (const respelling of jsonRespellings(text.replace(/^\ufeff/, ""))) {
    const cause =
      "the body was parsed and written again: the signed JSON is the same, " +
      `${respelling.words.join(", ")}. Keep the raw bytes (express.json({ verify: captureRawBody }))`;
    yield { body: Buffer.from(respelling.text), cause };
    yield { body: Buffer.from(`${respelling.text}\n`), cause };
  }
  yield {
    body: Buffer.from(text, "latin1"),
    cause: "the body was read as Latin-1 and written as UTF-8",
  };
}

/** The bytes that such text stands for. */
function bytes(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

function* lineEnds(body: Buffer): Generator<BodySuspicion> {
  // Latin-1 stands for bytes here: one character each, and back without loss.
  const text = body.toString("latin1");
  const added = "a line end was added to the end of the body (an editor or `echo` does that; use `printf %s`)";
  if (text.endsWith("\n")) yield { body: bytes(text.replace(/\r?\n$/, "")), cause: added };
  if (/\s$/.test(text)) yield { body: bytes(text.trimEnd()), cause: "blanks were added to the end of the body" };
  const missing = "the line end at the end of the body is missing (a shell's $(…) drops it)";
  yield { body: bytes(`${text}\n`), cause: missing };
  yield { body: bytes(`${text}\r\n`), cause: missing };
  const unix = text.replaceAll("\r\n", "\n");
  if (unix !== text) yield { body: bytes(unix), cause: "the line ends of the body became CRLF; LF was signed" };
  const windows = unix.replaceAll("\n", "\r\n");
  if (windows !== text) yield { body: bytes(windows), cause: "the line ends of the body became LF; CRLF was signed" };
}
