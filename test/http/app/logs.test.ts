import { expect, test } from "vitest";
import { signBody } from "../../../src/kit/index.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { DUPLICATE, QUARANTINED, RECEIVED } from "../expect-answer.js";
import { logLines } from "../log-lines.js";
import { delivery, nextEvent, SECRET, serve, sqliteOnDisk } from "../serve.js";
import { exchange, type Answer, type RawRequest } from "../wire.js";

/** Text that stands in every payload here, and must stand nowhere else. */
const MARK = "confidential-payload-text";
const signal = () => signalEvent({ data: { title: MARK, product: { slug: MARK } } });

test("no secret, no signature and no payload gets into an answer or the log, except in errors of the user's code", async () => {
  const { logger, lines } = logLines();
  const { receiver, port } = await serve({
    logger,
    store: sqliteOnDisk(),
    bodyLimitBytes: 5000,
    handoff: { maxAttempts: 1 },
    onSignal: (payload) => {
      const error = new Error(`${JSON.stringify(payload)} ${SECRET}`);
      throw Object.assign(error, { payload, secret: SECRET });
    },
  });
  receiver.on("duplicate", () => {
    throw new Error(`${MARK} ${SECRET}`);
  });
  const opened = new Promise<void>((resolve) =>
    receiver.on("handoffFailed", () => {
      if (lines.some((line) => line.includes('"breaker":"open"'))) resolve();
    }),
  );
  const dead = nextEvent(receiver, "dead");
  /** What must stand nowhere. */
  const forbidden = [SECRET, MARK];
  const answers: Answer[] = [];
  const send = async (request: RawRequest & { headers: Record<string, string> }) => {
    const hex = /v1=([0-9a-f]{64})/.exec(request.headers["X-Service-Signature"] ?? "")?.[1];
    if (hex !== undefined) forbidden.push(hex.slice(0, 16));
    const answer = await exchange(port, request);
    answers.push(answer);
    return answer.status === 200 ? answer.body : answer.status;
  };

  const event = signal();
  const { headers, body } = delivery(signal());
  const signature = headers["X-Service-Signature"];
  const signedAs = (header: string) => ({ headers: { "X-Service-Signature": header }, body });
  const challenge = { type: "webhook.verification", data: { challenge: MARK } };
  for (const [answered, request] of [
    [RECEIVED, delivery(event)],
    [DUPLICATE, delivery(event)],
    [DUPLICATE, delivery({ ...event, data: { ...event.data, title: `${MARK}!` } })],
    [QUARANTINED, delivery(`{"broken":"${MARK}`)],
    [QUARANTINED, delivery({ ...event, data: { title: MARK } })],
    [JSON.stringify({ challenge: MARK }), delivery({ ...event, id: "evt_v", ...challenge })],
    [401, { headers, body: `${String(body)} ` }],
    [401, signedAs(`${signature},v1=${SECRET}`)],
    [401, signedAs(signBody({ body, secret: SECRET, timestamp: 1_600_000_000 }))],
    [401, { headers: {}, body }],
    [405, { headers, body, method: "PUT" }],
    [413, delivery({ ...signal(), more: MARK.repeat(300) })],
    [415, { headers: { ...headers, "Content-Encoding": MARK }, body }],
    ...Array.from({ length: 12 }, () => [RECEIVED, delivery(signal())] as const),
  ] as const)
    expect(await send(request)).toBe(answered);
  await Promise.all([dead, opened]);
  await receiver.close();
  expect(await send(delivery(signal()))).toBe(503);

  // The receiver did log all of these.
  for (const said of [
    "accepted",
    "duplicate",
    "another body",
    "quarantine",
    "challenge",
    "hand-off failed",
    "an event is dead",
    "listener failed",
  ])
    expect(lines.join("")).toContain(said);
  expect(forbidden.length).toBeGreaterThan(20);
  const refusals = answers.filter(({ status }) => status >= 400);
  const logged = lines.map((line) => ({ ...(JSON.parse(line) as object), err: null }));
  const text = JSON.stringify([refusals, logged]);
  for (const each of forbidden) expect(text).not.toContain(each);
});
