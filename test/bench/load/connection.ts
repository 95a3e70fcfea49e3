import { connect, type Socket } from "node:net";
import { HOST } from "../endpoint.js";

const READ_BYTES = 16 * 1024;

/**
 * Opens a keep-alive connection with at most one request on its way.
 *
 * @param onAnswer called for each answer with status 200
 * @param onFailure called once when another answer comes, or when the connection breaks before it
 * was ended here
 */
export function openConnection(
  port: number,
  onAnswer: () => void,
  onFailure: (error: Error) => void,
) {
  const countAnswers = createAnswerParser();
  let hasEnded = false;
  return new Promise<{ send(request: Buffer): void; end(): void }>((resolve, reject) => {
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
            const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length);
            for (let left = countAnswers(chunk); left > 0; left--) onAnswer();
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
        send: (request) => void socket.write(request),
        end() {
          hasEnded = true;
          socket.destroy();
        },
      }),
    );
  });
}

const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * Reads just enough of HTTP/1.1 answers to know their status and where each ends: gives how many a
 * chunk completes. Throws when an answer is no 200, since refusals are fast, and when one has no
 * length: the bench's servers all say theirs.
 */
function createAnswerParser(): (chunk: Buffer) => number {
  // Bytes of an answer that is not complete yet.
  let held: Buffer | null = null;
  return (chunk) => {
    let bytes = held === null ? chunk : Buffer.concat([held, chunk]);
    let answers = 0;
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd === -1) break;
      const head = bytes.toString("latin1", 0, headEnd);
      const [, length] = LENGTH.exec(head) ?? [];
      if (length === undefined) throw new Error(`an answer without a length:\n${head}`);
      const end = headEnd + HEAD_END.length + Number(length);
      if (bytes.length < end) break;
      if (head.slice(9, 12) !== "200")
        throw new Error(`refused: ${bytes.toString("utf8", 0, end)}`);
      answers += 1;
      bytes = bytes.subarray(end);
    }
    // A copy: the chunk's memory is the socket's, which reads into it again.
    held = bytes.length === 0 ? null : Buffer.from(bytes);
    return answers;
  };
}
