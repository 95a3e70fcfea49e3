import { expect, test } from "vitest";
import { createAnswerParser } from "../bench/load/answer-parser.js";
import { runClosedLoop } from "../bench/load/closed-loop.js";
import { FIRST_SENT, scatteredEventIds } from "../bench/load/event-ids.js";
import { assertAllAnswered } from "../bench/parts/assert-all-answered.js";
import { requests, serve } from "./bench-server.js";

const answer = (status: number, body: string): string =>
  `HTTP/1.1 ${status} Whatever\r\nX-Other: 1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

test("answers are found however the bytes of two are cut", () => {
  const bytes = Buffer.from(answer(200, '{"received":true}') + answer(503, ""));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const parser = createAnswerParser();
    const statuses = [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut))];
    expect(statuses, `cut at ${cut}`).toEqual([200, 503]);
  }
});

test("what is held of an answer survives the reuse of the memory that it came in", () => {
  const parser = createAnswerParser();
  const memory = Buffer.from("HTTP/1.1 200 OK\r\n");
  expect(parser.push(memory)).toEqual([]);
  memory.fill("X");
  expect(parser.push(Buffer.from("content-length: 0\r\n\r\n"))).toEqual([200]);
});

test("an answer without a length is refused: its end would have to be guessed", () => {
  const chunked = Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  expect(() => createAnswerParser().push(chunked)).toThrow("without a length");
});

test("a closed loop sends each request once, one on each connection at a time", async () => {
  const CONNECTIONS = 8;
  // Nobody is answered before all connections wait: with fewer at a time this would not end, with more it would show.
  const waiting: (() => void)[] = [];
  let most = 0;
  const port = await serve((request, response) => {
    request.resume();
    waiting.push(() => response.end("fine"));
    most = Math.max(most, waiting.length);
    if (waiting.length === CONNECTIONS) for (const answerIt of waiting.splice(0)) answerIt();
  });
  const loop = { port, connections: CONNECTIONS, seconds: 20, most: 400 };
  const result = await runClosedLoop(requests(500), loop);
  expect(result).toMatchObject({ sent: 400, answered: 400, statuses: { 200: 400 }, failure: null });
  expect(result.latenciesMs).toHaveLength(400);
  expect(most).toBe(CONNECTIONS);
});

test("a closed loop counts what is not 200, and the run fails by it", async () => {
  let count = 0;
  const port = await serve((request, response) => {
    request.resume();
    response.statusCode = ++count % 10 === 0 ? 503 : 200;
    response.end(response.statusCode === 503 ? "why not" : "");
  });
  const result = await runClosedLoop(requests(100), { port, connections: 4, seconds: 20, most: 100 });
  expect(result.statuses).toEqual({ 200: 90, 503: 10 });
  expect(() => assertAllAnswered({ label: "it" }, result)).toThrow(
    'it: 100 sent, 100 answered, by status {"200":90,"503":10} why not',
  );
});

test("a connection that the server breaks fails the run", async () => {
  const port = await serve((request) => void request.socket.destroy());
  const result = await runClosedLoop(requests(10), { port, connections: 2, seconds: 20, most: 10 });
  expect(() => assertAllAnswered({ label: "it" }, result)).toThrow(/it: .*(closed the connection|ECONNRESET)/);
});

test("a server that answered nothing has no figures", () => {
  const nothing = { sent: 0, answered: 0, statuses: {}, refusal: null, failure: null };
  expect(() => assertAllAnswered({ label: "it" }, nothing)).toThrow("it: 0 sent");
});

test("no two of the numbers in use give one id, and those of a filled inbox are not sent", () => {
  const ids = [0, FIRST_SENT].flatMap((from) =>
    Array.from({ length: 50_000 }, (_, index) => scatteredEventIds(from + index).signalId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("every bit of an event's number reaches its id, so that no two of 2^32 are one", () => {
  const bits = Array.from({ length: 32 }, (_, bit) => scatteredEventIds(2 ** bit).signalId);
  expect(bits).not.toContain(0);
  expect(new Set(bits).size).toBe(32);
});
