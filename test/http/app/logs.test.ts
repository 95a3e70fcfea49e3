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
    onSignal: (event) => {
      throw Object.assign(new Error(`${JSON.stringify(event)} ${SECRET}`), {
        payload: event,
        secret: SECRET,
      });
    },
  });
  receiver.on("duplicate", () => {
    throw new Error(`${MARK} ${SECRET}`);
  });
  const breakerLine = () => lines.some((line) => line.includes('"breaker":"open"'));
  const answers: Answer[] = [];
  const sent: string[] = [];
  const send = async (request: RawRequest & { headers: Record<string, string> }) => {
    sent.push(request.headers["X-Service-Signature"] ?? "");
    const answer = await exchange(port, request);
    answers.push(answer);
    return answer;
  };

  const event = signal();
  expect((await send(delivery(event))).body).toBe(RECEIVED);
  expect((await send(delivery(event))).body).toBe(DUPLICATE);
  const conflicting = { ...event, data: { ...event.data, title: `${MARK}!` } };
  expect((await send(delivery(conflicting))).body).toBe(DUPLICATE);
  expect((await send(delivery(`{"broken":"${MARK}`))).body).toBe(QUARANTINED);
  expect((await send(delivery({ ...event, data: { title: MARK } }))).body).toBe(QUARANTINED);
  const verification = {
    ...event,
    id: "evt_v",
    type: "webhook.verification",
    data: { challenge: MARK },
  };
  expect((await send(delivery(verification))).status).toBe(200);
  const { headers, body } = delivery(signal());
  const oldHeader = signBody({ body, secret: SECRET, timestamp: 1_600_000_000 });
  const refused: [number, RawRequest & { headers: Record<string, string> }][] = [
    [401, { headers, body: `${String(body)} ` }],
    [
      401,
      {
        headers: { "X-Service-Signature": `${headers["X-Service-Signature"]},v1=${SECRET}` },
        body,
      },
    ],
    [401, { headers: { "X-Service-Signature": oldHeader }, body }],
    [401, { headers: {}, body }],
    [405, { headers, body, method: "PUT" }],
    [413, delivery({ ...signal(), more: MARK.repeat(300) })],
    [415, { headers: { ...headers, "Content-Encoding": MARK }, body }],
  ];
  const opened = new Promise<void>((resolve) =>
    receiver.on("handoffFailed", () => breakerLine() && resolve()),
  );
  for (const [status, request] of refused) expect((await send(request)).status).toBe(status);
  const dead = nextEvent(receiver, "dead");
  for (let failure = 0; failure < 12; failure++) await send(delivery(signal()));
  await dead;
  await opened;
  await receiver.close();
  expect((await send(delivery(signal()))).status).toBe(503);

  // The receiver did log all of these.
  const log = lines.join("");
  for (const said of [
    "accepted",
    "duplicate",
    "another body",
    "quarantine",
    "challenge",
    "hand-off failed",
    "an event is dead",
    "listener failed",
  ]) {
    expect(log).toContain(said);
  }
  const errors = answers
    .filter(({ status }) => status >= 400)
    .map((answer) => answer.body + JSON.stringify(answer.headers));
  const hexes = sent.flatMap((header) => /v1=([0-9a-f]{64})/.exec(header)?.[1] ?? []);
  expect(hexes.length).toBeGreaterThan(20);
  const parsed = lines.map(
    (line) => JSON.parse(line) as { err?: { message: string; stack: string } },
  );
  const own = JSON.stringify(parsed.map(({ err: _err, ...fields }) => fields));
  for (const text of [own, ...errors]) {
    for (const forbidden of [SECRET, MARK, ...hexes, ...hexes.map((hex) => hex.slice(0, 16))]) {
      expect(text).not.toContain(forbidden);
    }
  }
});
