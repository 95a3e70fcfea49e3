import { expect, test } from "vitest";
import { serveEndpoint } from "../unit/service/emulator/webhooks/webhook-world.js";
import { startEmulator } from "./start-emulator.js";

// What each assumption does is in the tests of its part. Here: those of the options come to the
// parts.
test("the assumptions of the options hold: investigationSeconds, firstSignalId and signatureClock", async () => {
  const assumptions = {
    investigationSeconds: 34,
    firstSignalId: 7,
    allowLoopbackHttp: true,
  } as const;
  const { emulator, ask, account } = await startEmulator({
    assumptions: { ...assumptions, signatureClock: "machine" },
  });
  const { control } = emulator;
  const { key, accountId } = await account("pro");
  const { body } = await ask("/research/rankings?limit=1", { key });
  const slug = (body["items"] as { slug: string }[])[0]?.slug ?? "";

  const start = {
    slug,
    idempotency_key: "3f0c9a52-5a44-4c8e-9d6f-7b1f2a9c0001",
    confirm_usage: true,
  };
  await ask("/research/promotion-investigations", { key, body: start });
  const stages: string[] = [];
  for (const ms of [1999, 1, 23_999, 1, 7999, 1]) {
    await control.advance({ ms });
    stages.push((await control.listInvestigations()).items[0]?.stage ?? "");
  }
  const [queued, investigating, reporting, complete] = [
    "queued",
    "investigating",
    "generating_report",
    "complete",
  ];
  expect(stages).toEqual([queued, investigating, investigating, reporting, reporting, complete]);

  const { url, signals } = await serveEndpoint();
  await ask("/alerts/webhooks", { key, body: { url, signal_types: ["new_model"] } });
  await control.follow({ account_id: accountId, slugs: [slug] });
  await control.settle();
  const published = [1, 2].map(() => control.publishSignal({ signal_type: "new_model", slug }));
  expect((await Promise.all(published)).map(({ signal_id }) => signal_id)).toEqual([7, 8]);
  const { now } = await control.settle();
  const [, signed] = /^t=(\d+),/.exec(String(signals[0]?.headers["x-service-signature"])) ?? [];
  expect(Date.parse(now) - Number(signed) * 1000).toBe(34_000);
});
