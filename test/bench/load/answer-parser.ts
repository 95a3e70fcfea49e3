/** Reads just enough of HTTP/1.1 answers to know their status and where each ends. */
export interface AnswerParser {
  /**
   * @returns what is complete now: the status of each answer, in order
   * @throws Error when the answer has no length: the bench's servers all say theirs
   */
  push(chunk: Buffer): readonly number[];
  /** The body of the first answer that was no 200: it says why. */
  readonly refusal: string | null;
}

const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const NONE: readonly number[] = [];

export function createAnswerParser(): AnswerParser {
  // Bytes of an answer that is not complete yet.
  let held: Buffer | null = null;
  let refusal: string | null = null;

  return {
    get refusal() {
      return refusal;
    },
    push(chunk) {
      let bytes = held === null ? chunk : Buffer.concat([held, chunk]);
      let statuses: number[] | null = null;
      for (;;) {
        const headEnd = bytes.indexOf(HEAD_END);
        if (headEnd === -1) break;
        const head = bytes.toString("latin1", 0, headEnd);
        const [, length] = LENGTH.exec(head) ?? [];
        if (length === undefined) throw new Error(`an answer without a length:\n${head}`);
        const end = headEnd + HEAD_END.length + Number(length);
        if (bytes.length < end) break;
        const status = Number(head.slice(9, 12));
        if (status !== 200) refusal ??= bytes.toString("utf8", headEnd + HEAD_END.length, end);
        (statuses ??= []).push(status);
        bytes = bytes.subarray(end);
      }
      // A copy: the chunk's memory is the socket's, which reads into it again.
      held = bytes.length === 0 ? null : Buffer.from(bytes);
      return statuses ?? NONE;
    },
  };
}
