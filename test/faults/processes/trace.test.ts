import { context, ROOT_CONTEXT } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { openTelemetry } from "../../../src/kit/telemetry/open-telemetry.js";
import { startRig } from "../../unit/kit/inbox/receiver-rig.js";
import { registerSdk } from "../../unit/kit/telemetry/register-sdk.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";

test("after a restart the hand-off is in the trace of its delivery", async () => {
  const { db } = inboxFiles();
  const sdk = registerSdk();
  const start = () => startRig({ store: sqliteStore(db), telemetry: openTelemetry() });
  const first = await start();
  await first.deliver();
  await eventually("the callback", () => first.calls.length === 1);
  await first.receiver.close({ graceMs: 0 });
  const receive = sdk.span("receive default").spanContext();
  const before = sdk.spans().length;

  // Nothing of the first life is left but the file.
  const second = await context.with(ROOT_CONTEXT, start);
  await eventually("the callback again", () => second.calls.length === 1);
  second.calls[0]?.resolve();
  await eventually("its span", () => sdk.spans().length > before);
  const handOff = sdk.spans().findLast(({ name }) => name === "hand-off default");
  expect(handOff?.spanContext().traceId).toBe(receive.traceId);
  expect(handOff?.parentSpanContext?.spanId).toBe(receive.spanId);
});
