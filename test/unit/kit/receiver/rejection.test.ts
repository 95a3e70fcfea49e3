import { expect, test } from "vitest";
import type { RejectionCode } from "../../../../src/kit/index.js";
import { acknowledge, acknowledgeNew, reject } from "../../../../src/kit/receiver/delivery.js";
import { REJECTIONS } from "../../../../src/kit/receiver/rejection.js";

// The HTTP contract, written down a second time on purpose.
const CONTRACT: Record<RejectionCode, [status: number, header?: [name: string, value: RegExp]]> = {
  signature_missing: [401],
  signature_malformed: [401],
  signature_mismatch: [401],
  timestamp_out_of_tolerance: [401],
  handshake_refused: [403],
  method_not_allowed: [405, ["Allow", /^POST$/]],
  body_timeout: [408, ["Connection", /^close$/]],
  body_too_large: [413, ["Connection", /^close$/]],
  encoding_unsupported: [415],
  body_unavailable: [500],
  secret_unavailable: [503, ["Retry-After", /^\d+$/]],
  store_unavailable: [503, ["Retry-After", /^\d+$/]],
  overloaded: [503, ["Retry-After", /^\d+$/]],
  ack_timeout: [503, ["Retry-After", /^\d+$/]],
  closing: [503, ["Retry-After", /^\d+$/]],
};

test.each(Object.entries(CONTRACT))(
  "%s is answered as the contract says",
  (code, [status, header]) => {
    const answer = reject(code as RejectionCode);
    expect(answer.status).toBe(status);
    const {
      error,
      request_id: requestId,
      ...rest
    } = JSON.parse(answer.body) as Record<string, unknown>;
    expect(rest).toEqual({});
    expect(error).toEqual({ code, message: REJECTIONS[code as RejectionCode].message });
    expect(requestId).toBe(answer.requestId);
    if (header !== undefined) expect(answer.headers[header[0]]).toMatch(header[1]);
  },
);

test("every answer is JSON with its exact length in bytes, and is not sniffed", () => {
  const challenge = acknowledge({ challenge: "ключ 🔑" });
  for (const { body, headers } of [acknowledgeNew(), challenge, reject("overloaded")]) {
    expect(headers["Content-Length"]).toBe(String(Buffer.byteLength(body)));
    expect(headers["Content-Type"]).toBe("application/json; charset=utf-8");
    expect(headers["X-Content-Type-Options"]).toBe("nosniff");
  }
  expect(challenge.headers["Content-Length"]).not.toBe(String(challenge.body.length));
});
