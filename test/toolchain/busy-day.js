import { createReceiver } from "../../dist/kit/index.js";
import { github, stripe } from "../../dist/kit/senders/index.js";
import { deliveryOfSample, fillSample, samplesOf } from "../../dist/kit/senders/samples.js";
import { SIGNAL_TYPES } from "../../dist/kit/senders/signals/signal-types.js";
import { memoryStore } from "../../dist/kit/stores/memory.js";
import { createManualClock, signalEvent, signedDelivery } from "../../dist/kit/testing/index.js";

const SECRET = "whsec_of_the_pictures";
const MINUTE_MS = 60_000;
/** A little less than a day, so that a chart of the day has all of it. */
const DAY_MINUTES = 24 * 60 - 15;
/** So long before the end of the day, the callback of Stripe's events begins to fail. */
const DOWN_MINUTES = 35;
/** This product has no plan in the app. */
const WITHOUT_PLAN = "cobalt-scribe";
/** The titles of the others need letters that not every machine can draw. */
const TYPES = SIGNAL_TYPES.filter((type) => !/[^ -\u017F]/.test(signalEvent(type).data.title));
/** The app has no function for it. */
const IGNORED = "v1.invoice.paid";

/**
 * Three receivers after a day of deliveries, fewer in the middle: of the service, which has an
 * error for one product; of Stripe, whose hand-offs are paused unless `isWell`; and of GitHub. Their
 * clock stands still until it is advanced.
 */
export async function busyDay({ isWell = false } = {}) {
  const endMs = Date.now();
  const clock = createManualClock(endMs - DAY_MINUTES * MINUTE_MS);
  const shared = { secrets: SECRET, store: memoryStore(), logger: false, clock };
  const random = numbersFrom(7);
  const minutesLeft = () => (endMs - clock.now()) / MINUTE_MS;
  const work = (least, most) =>
    new Promise((resolve) =>
      clock.setTimeout(resolve, Math.round(least + random() * (most - least))),
    );

  const signals = createReceiver({
    ...shared,
    handoff: { maxAttempts: 4, backoff: (attempts) => 20_000 * 6 ** (attempts - 1) },
    async onSignal({ data: { product } }) {
      await work(20, 180);
      if (product.slug === WITHOUT_PLAN && !isWell) throw withoutPlan();
    },
  });
  const payments = createReceiver({
    ...shared,
    endpoint: "stripe",
    sender: stripe(),
    onEvent: onSamples("stripe", async () => {
      await work(60, 400);
      if (isWell) return;
      if (minutesLeft() < DOWN_MINUTES) throw ledgerIsDown();
    }),
  });
  const code = createReceiver({
    ...shared,
    endpoint: "github",
    sender: github(),
    onEvent: onSamples("github", async () => {
      await work(10, 60);
      if (!isWell && minutesLeft() < 1) throw noDatabase();
    }),
  });
  const receivers = [signals, payments, code];
  for (const receiver of receivers) await receiver.start();

  const senders = [
    { receiver: signals, perHour: 40, next: nextSignal(clock) },
    { receiver: payments, perHour: 32, next: nextSample("stripe", stripe(), clock) },
    { receiver: code, perHour: 14, next: nextSample("github", github(), clock) },
  ];
  while (minutesLeft() > 2) {
    const share = 0.9 + 0.45 * Math.cos((minutesLeft() / DAY_MINUTES) * 2 * Math.PI);
    for (const { receiver, perHour, next } of senders)
      if (random() < (perHour / 60) * share) await receive(receiver, next(), clock);
    await clock.advance(Math.round(MINUTE_MS * (0.5 + random())));
  }
  if (!isWell) {
    const forged = signedDelivery(signalEvent("new_feature"), { secret: "whsec_of_another" });
    await receive(signals, forged, clock, "203.0.113.7");
  }
  await clock.advance(Math.max(0, endMs - clock.now() - 4000));
  for (const { receiver, next } of senders) await receive(receiver, next(), clock);
  await clock.advance(1000);
  return { clock, receivers };
}

async function receive(receiver, delivery, clock, address = "127.0.0.1") {
  const answer = receiver.handle({ method: "POST", ...delivery, remoteAddress: () => address });
  await clock.advance(100);
  await answer;
}

/** A function for each type of the samples. */
const onSamples = (sender, callback) =>
  Object.fromEntries(
    samplesOf(sender)
      .filter(({ type }) => type !== IGNORED)
      .map(({ type, subtype }) => [[type, subtype].filter(Boolean).join("."), callback]),
  );

function nextSignal(clock) {
  let count = 0;
  return () => {
    const now = clock.now();
    const time = new Date(now).toISOString();
    const type = TYPES[(count++ * 8) % TYPES.length];
    const data = { observed_at: time, published_at: time };
    const event = signalEvent(type, { created_at: time, data });
    return signedDelivery(event, { secret: SECRET, now });
  };
}

function nextSample(name, sender, clock) {
  // GitHub sends a ping once, when the webhook is made.
  const samples = samplesOf(name).filter(({ type }) => type !== "ping");
  let count = 0;
  return () => {
    const now = clock.now();
    const sample = samples[count++ % samples.length];
    const { body, headers } = deliveryOfSample(fillSample(sample, now));
    return signedDelivery(body, { sender, secret: SECRET, now, headers });
  };
}

/** An error as an app throws it, with the lines of its own files. */
function asThrown(error, name, ...lines) {
  const at = lines.map((line) => `\n    at async file:///srv/shop/src/${line}`);
  return Object.assign(error, { name, stack: `${name}: ${error.message}${at.join("")}` });
}

const withoutPlan = () =>
  asThrown(
    new Error("Cannot read properties of undefined (reading 'plan')"),
    "TypeError",
    "prices/price-of.js:41:27",
    "prices/save-change.js:18:17",
    "on-signal.js:12:3",
  );
const ledgerIsDown = () =>
  asThrown(new Error("Ledger is down for maintenance"), "LedgerError", "ledger.js:18:11");
const noDatabase = () =>
  asThrown(new Error("connect ECONNREFUSED 10.0.4.17:5432"), "Error", "deploys.js:7:5");

/** The same numbers from 0 to 1 each time. */
function numbersFrom(seed) {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}
