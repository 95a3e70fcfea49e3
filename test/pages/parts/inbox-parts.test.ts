// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, onTestFinished, test, vi } from "vitest";
import { EventList } from "../../../src/page/inbox/browser/event-list.js";
import { tellNewest } from "../../../src/page/inbox/browser/find-events.js";
import { MoveButton } from "../../../src/page/inbox/browser/move-events.js";
import { PageFrame, PageRoot } from "../../../src/page/parts/page-frame.js";
import { answerFetch, pressButton, settle, showPart } from "./show-part.js";

const listed = (seq: number) =>
  ({
    seq,
    endpoint: "default",
    eventId: `sig_${seq}`,
    type: "t",
    state: "done",
    title: null,
  }) as never;

/** An inbox of `stored()` events, in a list that is told of it by `follow`. */
async function showList(stored: () => number, search = "") {
  const find = (before: number, limit: number) => {
    const newest = Math.min(before - 1, stored());
    const seqs = Array.from({ length: Math.min(limit, newest) }, (_, index) => newest - index);
    return { events: seqs.map(listed), nextBeforeSeq: newest > limit ? newest - limit + 1 : null };
  };
  answerFetch((path) => {
    const query = new URLSearchParams(path.split("?")[1]);
    if (!path.includes("api/events"))
      return { json: { activity: [], minutes: 1, spans: 1, now: 0 } };
    return { json: find(Number(query.get("before") ?? 1e9), Number(query.get("limit"))) };
  });
  onTestFinished(() => tellNewest());
  const at = document.body.appendChild(document.createElement("div"));
  onTestFinished(() => (render(null, at), at.remove()));
  let version = 0;
  const list = { search, before: undefined, isLong: false, overview: undefined, open: undefined };
  const follow = async (): Promise<void> => {
    version += 1;
    if (search === "") tellNewest(find(1e9, 50));
    const frame = h(PageFrame, { brand: "Inbox", now: 0, version, children: h(EventList, list) });
    await act(() => render(h(PageRoot, null, frame), at));
    await settle();
    await settle();
  };
  const rows = (): string[] =>
    [...at.querySelectorAll("tbody a")].map((link) => link.getAttribute("title") ?? "");
  const button = (): string => at.querySelector(".fresh")?.textContent ?? "";
  return { at, follow, rows, button };
}

test.each(["", "type:t"])(
  "a list of %j keeps a full page of the same rows, however many events come, until they are asked for",
  async (search) => {
    let stored = 100;
    const { at, follow, rows, button } = await showList(() => stored, search);
    await follow();
    const first = rows();
    expect([first.length, first[0], button()]).toEqual([50, "sig_100", ""]);
    const said: string[] = [];
    for (const more of [1, 15, 30, 44, 90, 500]) {
      stored += more;
      await follow();
      expect(rows()).toEqual(first);
      said.push(button());
    }
    expect(said.slice(0, 3)).toEqual(["1 new event", "16 new events", "46 new events"]);
    expect(said.at(-1)).toBe("Over 150 new events");
    await pressButton(at, button());
    await settle();
    expect([rows().length, rows()[0], button()]).toEqual([50, `sig_${stored}`, ""]);
  },
);

test("what the hand-offs came to: what failed before it was retried is not counted, nor what is gone", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const eventIds = ["dead", "waits", "waits too", "quarantined"];
  // The first two have not been tried again, then all have.
  const ends = [
    [null, 7, 8, "gone"],
    [5, 9, "done"],
  ];
  answerFetch((path) => {
    if (path.includes("api/replay"))
      return { json: { outcomes: ["moved", "wrong_state", "wrong_state", "moved"] } };
    if (path.includes("api/retry")) return { json: { outcomes: ["moved", "moved"], ends: [7, 8] } };
    return { json: ends.shift() };
  });
  const page = await showPart(h(MoveButton, { kind: "replay", eventIds }));
  for (const label of ["Replay…", "Replay"]) await pressButton(page, label);
  await settle();
  await act(async () => void (await vi.advanceTimersByTimeAsync(1000)));
  await settle();
  expect(page.querySelector("[role=status]")?.textContent).toContain("1 done, 2 failed again.");
});
