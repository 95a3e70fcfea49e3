import { systemClock } from "../../src/base/time/clock.js";
import { createManualClock } from "../../src/kit/testing/manual-clock.js";
import type { SignalType } from "../../src/kit/index.js";
import type { EmulatorOptions } from "../../src/service/emulator/instance/options.js";
import type { Tier } from "../../src/service/contract/access.js";
import { BEGINNING, startEmulator } from "../emulator/start-emulator.js";
import { serveEndpoint } from "../unit/service/emulator/webhooks/webhook-world.js";
import { actionsIn, openReader } from "./open-reader.js";

const startedAt = Date.now();
/** Runs as time does, from the beginning of the usual data. */
export const RUNNING_CLOCK = { ...systemClock, now: () => BEGINNING + Date.now() - startedAt };

/** An emulator that signs by the machine's clock, and its dashboard in a browser. */
export async function openDashboard({
  mayLog,
  ...options
}: EmulatorOptions & { mayLog?: RegExp } = {}) {
  const running = await startEmulator({
    clock: RUNNING_CLOCK,
    assumptions: { allowLoopbackHttp: true, signatureClock: "machine", retrySeconds: "600,600" },
    ...options,
  });
  const reader = await openReader(mayLog && { mayLog });
  const { page } = reader;
  const { url, control } = running.emulator;
  await page.goto(`${url}/`);
  return {
    ...running,
    ...reader,
    control,
    /** Shows a view, from its beginning. */
    async show(view: string): Promise<void> {
      await page.goto("about:blank");
      await page.goto(`${url}/_emulator/ui/#/${view}`);
    },
    /** Waits for the first state with this word, in a table or among facts. */
    seeState: (word: string) =>
      page
        .locator(":is(td, dd):has(.dot)", { hasText: new RegExp(`^${word}$`) })
        .first()
        .waitFor(),
    /** The row with this text, or of the event with this id. */
    rowOf: (text: string) =>
      page
        .getByRole("row")
        .filter({ has: page.getByText(text).or(page.locator(`a[title="${text}"]`)) }),
    panel: (heading: string) =>
      actionsIn(
        page.locator("section", { has: page.getByRole("heading", { name: heading, exact: true }) }),
      ),
  };
}

/** The same with one account, and unless another clock is given, with one that stands still. */
export async function openWithAccount({
  tier = "pro",
  name = "Ada",
  ...options
}: EmulatorOptions & { tier?: Tier; name?: string; mayLog?: RegExp } = {}) {
  const own = await openDashboard({ clock: createManualClock(BEGINNING), ...options });
  const { control, ask } = own;
  await control.createAccount({ tier, name });
  const { key } = await control.createKey({ account_id: 1 });
  const { body } = await ask("/research/rankings?sort=traffic&limit=25", { key });
  /** Products, the most visited first. */
  const slugs = (body["items"] as { slug: string }[]).map(({ slug }) => slug);
  const [slug = ""] = slugs;
  return {
    ...own,
    key,
    slugs,
    slug,
    /** Follows the most visited product. */
    followFirst: () => control.follow({ account_id: 1, slugs: [slug] }),
    /** Registers an endpoint, of its own if none is given. @returns the registration's id */
    async register(types: readonly SignalType[], url?: string): Promise<string> {
      const hook = { url: url ?? (await serveEndpoint()).url, signal_types: types };
      const told = await ask("/alerts/webhooks", { key, body: hook });
      await control.settle();
      return String(told.body["id"]);
    },
    /** Publishes a signal about that product. @returns the event's id */
    publish: async (): Promise<string> =>
      (await control.publishSignal({ signal_type: "price_increased", slug })).event_id,
  };
}
