import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { findSample } from "../../../src/cli/deliveries/event-source.js";
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

test("a type is found alone and with its subtype, and each delivery of it is new", () => {
  const samples = [
    {
      type: "a",
      subtype: "x",
      subject: null,
      id: "1",
      json: { at: "{s}", ms: "{ms}", text: "of {s}", list: ["{uuid}"], same: "{uuid}" },
    },
    {
      type: "a",
      subtype: "y",
      subject: null,
      id: "2",
      form: { payload: { at: "{iso}" }, n: 1, text: "ü &" },
    },
  ];
  expect(findSample(samples, "a")?.id).toBe("1");
  expect(findSample(samples, "a.y")?.id).toBe("2");
  expect(findSample(samples, "y")).toBeUndefined();
  const now = 1_795_255_200_500;
  const json = deliveryOfSample(fillSample(samples[0]!, now)).body as Record<string, unknown>;
  expect(json).toMatchObject({ at: 1_795_255_200, ms: now, text: "of 1795255200" });
  expect(json["list"]).toEqual([json["same"]]);
  expect(json["same"]).toMatch(/^[\da-f]{8}-/);
  expect(JSON.stringify(deliveryOfSample(fillSample(samples[0]!, now)))).not.toContain(
    String(json["same"]),
  );
  const form = deliveryOfSample(fillSample(samples[1]!, now));
  expect(form.headers).toEqual({ "content-type": "application/x-www-form-urlencoded" });
  const fields = Object.fromEntries(new URLSearchParams(form.body as string));
  expect(fields).toEqual({
    payload: `{"at":"${new Date(now).toISOString()}"}`,
    n: "1",
    text: "ü &",
  });
});
