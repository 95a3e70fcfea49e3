import { verificationEvent } from "./probe.js";

/** The same harmless event, so spelt that whatever changes bytes on the way betrays itself by the ones it changes. */
export interface Spelling {
  name: string;
  body: Buffer;
}

/** @param isSignalbox whether the receiver is known to read what strictly is no JSON; another might break at it */
export function spellings(isSignalbox: boolean): Spelling[] {
  const plain = JSON.stringify(verificationEvent());
  const { id, version, type, created_at, data } = verificationEvent();
  const indented = JSON.stringify(verificationEvent(), null, 2);
  return Object.entries({
    "plain JSON": plain,
    "keys in the service's order": JSON.stringify({ id, version, type, created_at, data }),
    "indented JSON": indented,
    "escaped text": withProbe(String.raw`"\u00e9\u0041\/"`),
    "text beyond ASCII": withProbe('"é 测试 🚂"'),
    "markup and slashes": withProbe('"<a href=x/y>&</a>"'),
    "unusual numbers": withProbe("[1.0,1e2,0.10,9007199254740993]"),
    "a line end after it": `${plain}\n`,
    "blanks around it": ` ${plain}  `,
    "CRLF line ends": indented.replaceAll("\n", "\r\n"),
    ...(isSignalbox && { "a byte order mark": `\ufeff${plain}` }),
  }).map(([name, text]) => ({ name, body: Buffer.from(text) }));
}

/** With a value that JSON.stringify would spell otherwise. */
function withProbe(literal: string): string {
  return JSON.stringify(verificationEvent({ probe: 0 })).replace('"probe":0', () => `"probe":${literal}`);
}
