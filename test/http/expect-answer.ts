import { expect } from "vitest";
import type { RejectionCode } from "../../src/kit/index.js";
import type { Answer } from "./wire.js";

/** What every answer has, whatever it says. */
export function expectSoundAnswer(answer: Answer): void {
  expect(answer.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-length": String(answer.bodyBytes),
  });
}

export function expectAcknowledged(answer: Answer, body: string): void {
  expect([answer.status, answer.body]).toEqual([200, body]);
  expectSoundAnswer(answer);
}

export function expectRefused(answer: Answer, status: number, code: RejectionCode): void {
  expect([answer.status, answer.body]).toEqual([
    status,
    expect.stringMatching(
      new RegExp(
        `^\\{"error":\\{"code":"${code}","message":"[^"]+"\\},"request_id":"req_[0-9a-f-]{36}"\\}$`,
      ),
    ),
  ]);
  expectSoundAnswer(answer);
  expect(answer.headers["retry-after"]).toEqual(
    status === 503 ? expect.stringMatching(/^[1-9][0-9]*$/) : undefined,
  );
  expect(answer.headers["allow"]).toBe(status === 405 ? "POST" : undefined);
}

export const RECEIVED = '{"received":true}';
export const DUPLICATE = '{"received":true,"duplicate":true}';
export const QUARANTINED = '{"received":true,"quarantined":true}';
