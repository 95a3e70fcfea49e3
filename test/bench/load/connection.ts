import { connect, type Socket } from "node:net";
import { HOST } from "../servers/endpoint.js";
import { createAnswerParser } from "./answer-parser.js";

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
