import { expect, test } from "vitest";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { inboxPage } from "../../../../src/page/inbox/inbox-page.js";
import { delivery, listen, startReceiver } from "../../../http/serve.js";
import { askAt, everyone, PAGE_WRITE, take } from "../../../pages/serve-page.js";
import { until } from "../../until.js";

test.each([-1, 1])(
  "what hand-offs came to, with a store whose clock is %i h off: an event that waits says when it failed, and one that is not known is gone",
  async (hours) => {
    const inner = memoryStore();
    const offMs = hours * 3_600_000;
    const receiver = await startReceiver({
      store: {
        ...inner,
        async get(...asked) {
          const event = await inner.get(...asked);
          return event && { ...event, dueAt: event.dueAt + offMs };
        },
      },
      handoff: { backoff: () => 600_000 },
      onSignal({ id }) {
        if (id === "sig_1") throw new Error("down");
      },
    });
    await take(receiver, signalEvent("price_increased", { id: "sig_2" }), "handedOff");
    const event = signalEvent("price_increased", { id: "sig_1" });
    await receiver.handle({ method: "POST", ...delivery(event) });
    const { ask } = askAt(await listen(inboxPage(receiver, everyone)), "");
    let ends: unknown[] = [];
    /** Waits until the first has failed, and not at this time. */
    const seeFailed = (before: unknown) =>
      until(async () => {
        ends = JSON.parse((await ask("api/ends?ids=sig_1%00sig_2%00no")).body) as unknown[];
        return ends[0] !== null && ends[0] !== before;
      });
    await seeFailed(null);
    const [before] = ends;
    expect(ends).toEqual([expect.any(Number), "done", "gone"]);
    const body = '{"eventIds":["sig_1"]}';
    const answer = await ask("api/retry", { method: "POST", headers: PAGE_WRITE, body });
    expect(JSON.parse(answer.body)).toEqual({ outcomes: ["moved"], ends: [before] });
    await seeFailed(before);
    expect(ends[0]).toBeGreaterThan(before as number);
  },
);
