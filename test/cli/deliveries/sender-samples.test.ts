import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { builtInSender } from "../../../src/kit/senders/built-in.js";
import { SENDER_NAMES } from "../../../src/kit/senders/records.js";
import { deliveryOfSample, fillSample, samplesOf } from "../../../src/kit/senders/samples.js";
import { testReceiver } from "../../../src/kit/testing/index.js";

const NAMES = readdirSync(new URL("../../../fixtures/samples/", import.meta.url)).map((file) =>
  file.replace(".json", ""),
);

const bytesOf = (body: object | string): Buffer =>
  Buffer.from(typeof body === "string" ? body : JSON.stringify(body));

test("each built-in sender has samples, and no other", () => {
  expect(NAMES.toSorted()).toEqual(SENDER_NAMES.toSorted());
});

test.each(NAMES)(
  "%s: each sample is accepted with the type, the subtype, the subject and the id that it states",
  async (name) => {
    const sender = builtInSender(name, { publicUrl: "https://hooks.example/" })!;
    const { receiver, clock, secret } = await testReceiver({
      sender,
      secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    onTestFinished(() => receiver.close({ graceMs: 0 }));
    let lastId: string | undefined;
    receiver.on("accepted", ({ eventId }) => (lastId = eventId));
    const samples = samplesOf(name);
    expect(samples.length).toBeGreaterThanOrEqual(4);
    for (const [index, sample] of samples.entries()) {
      const filled = fillSample(sample, clock.now() + index);
      const made = deliveryOfSample(filled);
      const body = bytesOf(made.body);
      const { headers } = made;
      const signed = sender.sign(body, { secret, now: clock.now(), headers });
      const url = `/?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
      const answer = await receiver.handle({ method: "POST", url, headers: signed, body });
      expect(answer, `sample ${index}`).toMatchObject({ status: 200 });
      const { type, subtype, subject } = filled;
      // An id in a header that the signature makes is another for each delivery.
      const idOfHeader = Object.values(signed).find((value) => value.startsWith("msg_"));
      const id = filled.id === "{header}" ? idOfHeader : (filled.id ?? lastId);
      const entry = await receiver.inbox.get(String(id));
      expect(entry, `sample ${index}`).toMatchObject({ type, subtype, subject });
    }
  },
);

test("each delivery of a sample is new, and a form has texts", () => {
  const about = { type: "a", subtype: "x", subject: null, id: "1" };
  const fields = { at: "{s}", ms: "{ms}", text: "of {s}", list: ["{uuid}"], same: "{uuid}" };
  const now = 1_795_255_200_500;
  const made = () => deliveryOfSample(fillSample({ ...about, json: fields }, now)).body;
  const json = made() as typeof fields;
  expect(json).toMatchObject({ at: 1_795_255_200, ms: now, text: "of 1795255200" });
  expect(json.list).toEqual([json.same]);
  expect(json.same).toMatch(/^[\da-f]{8}-/);
  expect(JSON.stringify(made())).not.toContain(json.same);
  const form = { payload: { at: "{iso}" }, n: 1, text: "ü &" };
  const { body, headers } = deliveryOfSample(fillSample({ ...about, form }, now));
  expect(headers).toEqual({ "content-type": "application/x-www-form-urlencoded" });
  expect(Object.fromEntries(new URLSearchParams(body as string))).toEqual({
    payload: `{"at":"${new Date(now).toISOString()}"}`,
    n: "1",
    text: "ü &",
  });
});
