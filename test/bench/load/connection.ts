import { connect, type Socket } from "node:net";
import { HOST } from "../endpoint.js";

/** One keep-alive connection with at most one request on its way. */
export interface Connection {
  send(request: Buffer): void;
  readonly refusal: string | null;
  end(): void;
}

const READ_BYTES = 16 * 1024;

/**
 * @param onAnswer called with each answer's status
 * @param onFailure called once when the connection breaks before it was ended here
 */
export function openConnection(
  port: number,
  onAnswer: (status: number) => void,
  onFailure: (error: Error) => void,
): Promise<Connection> {
  const parser = createAnswerParser();
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const fail = (error: Error): void => {
      if (hasEnded) return;
      hasEnded = true;
      reject(error);
      onFailure(error);
      socket.destroy();
    };
    const socket: Socket = connect({
      port,
      host: HOST,
      noDelay: true,
      // One buffer for all that is read: nothing is allocated for an answer.
      onread: {
        buffer: Buffer.alloc(READ_BYTES),
        callback(length, buffer) {
          try {
            for (const status of parser.push(Buffer.from(buffer.buffer, buffer.byteOffset, length)))
              onAnswer(status);
          } catch (error) {
            fail(error as Error);
          }
          return true;
        },
      },
    });
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the server closed the connection")));
    socket.on("connect", () =>
      resolve({
        get refusal() {
          return parser.refusal;
        },
        send: (request) => void socket.write(request),
        end() {
          hasEnded = true;
          socket.destroy();
        },
      }),
    );
  });
}

/** Reads just enough of HTTP/1.1 answers to know their status and where each ends. */
interface AnswerParser {
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

function createAnswerParser(): AnswerParser {
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
