import { expect, test } from "vitest";
import { fetchHandler } from "../../../../src/kit/receiver/adapters/fetch-handler.js";
import { codeOf, startRig } from "../inbox/receiver-rig.js";

const URL = "http://localhost/webhooks/signals";

async function rigWith(over: Parameters<typeof startRig>[0] = {}) {
  const rig = await startRig(over);
  const receive = fetchHandler(rig.receiver);
  const signed = rig.signed();
  const requestOf = (over_: object = {}): Request =>
    new Request(URL, { ...signed, duplex: "half", ...over_ });
  const post = async (request: Request): Promise<string> => {
    const answer = await receive(request);
    return codeOf({ status: answer.status, body: await answer.text() });
  };
  return { ...rig, requestOf, post };
}

test("a body that something else has read, or reads, gets 500", async () => {
  const { requestOf, post } = await rigWith();
  const read = requestOf();
  await read.text();
  const reading = requestOf();
  reading.body?.getReader();
  const begun = requestOf();
  const reader = begun.body?.getReader();
  await reader?.read();
  reader?.releaseLock();
  for (const request of [read, reading, begun])
    expect(await post(request)).toBe("500 body_unavailable");
});

test("a body that is refused early is let go, and not cancelled, which could close the connection", async () => {
  const { requestOf, post, clock } = await rigWith({ bodyTimeoutMs: 1000 });
  let cancelled = false;
  const request = requestOf({
    body: new ReadableStream({ cancel: () => void (cancelled = true) }),
  });
  const answer = post(request);
  await clock.advance(1000);
  expect(await answer).toBe("408 body_timeout");
  expect([cancelled, request.body?.locked]).toEqual([false, false]);
});

test("a client that goes gets an answer that nothing reads", async () => {
  const { requestOf, post, namesSeen } = await rigWith();
  const leaving = new AbortController();
  const answer = post(requestOf({ body: new ReadableStream(), signal: leaving.signal }));
  leaving.abort();
  expect(await answer).toBe("499");
  expect(namesSeen()).toEqual([]);
});
