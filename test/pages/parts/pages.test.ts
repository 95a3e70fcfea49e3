// @vitest-environment happy-dom
import { Fragment, h, options } from "preact";
import { useEffect, useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { expect, onTestFinished, test, vi } from "vitest";
import { ActivityChart } from "../../../src/page/inbox/browser/activity-chart.js";
import { ActionButton } from "../../../src/page/parts/actions.js";
import { chooseClock, formatTime, otherTime } from "../../../src/page/parts/clock-choice.js";
import { showPage } from "../../../src/page/parts/page-frame.js";
import { useData } from "../../../src/page/parts/use-data.js";
import { DeskContext } from "../../../src/service/emulator/dashboard/control.js";
import { Deliveries } from "../../../src/service/emulator/dashboard/deliveries.js";
import { answerFetch, pressButton, settle, showPart } from "./show-part.js";

const never = new Promise<never>(() => {});

test("a text is safe to look at, alone, in a list and in a fragment", async () => {
  onTestFinished(() => void delete options.vnode);
  const Texts = () => h("main", null, "a\u202e", ["b\u202e"], h(Fragment, null, "c\u202e"));
  await act(() => showPage(h(Texts, {})));
  expect(document.querySelector("main")?.textContent).toBe("a\\u202eb\\u202ec\\u202e");
});

test("a chart of another range shows no bars of the range before it, while it loads and when that fails", async () => {
  const activity = [{ at: 0, accepted: 7, ignored: 0, handedOff: 6, failed: 1, durations: [] }];
  const answer = { minutes: 15, spans: 96, now: 900_000, activity };
  const message = "The store does not work.";
  const failure = { status: 503, json: { error: { code: "store_failed", message } } };
  let week: () => Promise<never> | typeof failure = () => never;
  answerFetch((path) => (path.includes("range=day") ? { json: answer } : week()));
  const page = await showPart(h(ActivityChart, { search: "", overview: undefined }));
  const bars = (): number => page.querySelectorAll("rect").length;
  const choose = async (range: string): Promise<void> => {
    await pressButton(page, range);
    await settle();
  };
  expect(bars()).toBe(3);
  await choose("Week");
  expect([bars(), page.textContent]).toEqual([0, expect.not.stringContaining("received")]);
  await choose("Day");
  expect(bars()).toBe(3);
  week = () => failure;
  await choose("Week");
  expect(bars()).toBe(0);
  expect(page.querySelector("[role=alert]")?.textContent).toContain(message);
});

test("of 21 deliveries 20 are shown with a link to older ones, and no link if there are no more", async () => {
  const event = { event_id: "evt_1", registration_id: "wh_1", event_type: "webhook.test" };
  const ended = { signal: null, state: "delivered", next_attempt_at: null, attempts: [] };
  const items = Array.from({ length: 21 }, (_, index) => {
    return { ...event, ...ended, delivery_id: 121 - index, created_at: "2026-11-01T00:00:00Z" };
  });
  const operations = ["listDeliveries", "listRegistrations"].map((name) => {
    return { name, method: "GET", path: `/_emulator/${name.slice(4).toLowerCase()}`, input: {} };
  });
  answerFetch((path) => {
    if (path.endsWith("/_emulator")) return { json: { operations } };
    const limit = Number(new URLSearchParams(path.split("?")[1]).get("limit") ?? 0);
    return { json: { items: path.includes("/deliveries") ? items.slice(0, limit) : [] } };
  });
  const desk = { account: { account_id: 1 }, apiKey: "", newSecret: null } as never;
  const shown = async () => {
    location.hash = "#/deliveries";
    const page = await showPart(h(DeskContext.Provider, { value: desk }, h(Deliveries, null)));
    const links = [...page.querySelectorAll("a")];
    const older = links.find(({ textContent }) => textContent === "Older");
    const cells = [...page.querySelectorAll("td")].slice(0, 2);
    // What a narrow page shows before each cell.
    expect(cells.map((cell) => cell.dataset["label"])).toEqual(["State", "Created"]);
    return [page.querySelectorAll("tbody tr").length, older?.getAttribute("href")];
  };
  expect(await shown()).toEqual([20, "#/deliveries?before=102"]);
  items.pop();
  expect(await shown()).toEqual([20, undefined]);
});

test("times have a zone, and the clock that the reader chooses is kept", () => {
  expect(formatTime(0, "UTC")).toBe("1970-01-01 00:00:00 UTC");
  chooseClock("UTC");
  expect([formatTime(0), otherTime(0)]).toEqual([formatTime(0, "UTC"), formatTime(0, "local")]);
  expect(localStorage.getItem("signalbox.clock")).toBe("UTC");
});

test("an answer that comes after a newer load began is dropped", async () => {
  const answers = new Map<string, (text: string) => void>();
  const load = (what: string) => () => new Promise<string>((resolve) => answers.set(what, resolve));
  let change: (what: string) => void = () => {};
  function Shown() {
    const [what, setWhat] = useState("first");
    useEffect(() => void (change = setWhat), []);
    return h("p", null, useData(what, load(what)).data ?? "nothing");
  }
  const page = await showPart(h(Shown, null));
  await act(() => change("second"));
  await settle();
  answers.get("second")?.("of the second");
  await settle();
  answers.get("first")?.("of the first");
  await settle();
  expect(page.querySelector("p")?.textContent).toBe("of the second");
});

test("an action says what came of it in its own page, and a failure stays", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const fail = (message: string) => () => Promise.reject(new Error(message));
  const confirm = { title: "Ask?", text: "", action: "Yes" };
  const page = await showPart([
    h(ActionButton, { label: "Do", run: () => Promise.resolve("Done.") }),
    h(ActionButton, { label: "Fail", run: fail("It is broken.") }),
    h(ActionButton, { label: "Ask", confirm, run: fail("It is refused.") }),
  ]);
  const other = await showPart(h("p", null, "another page"));
  for (const label of ["Do", "Fail"]) await pressButton(page, label);
  await settle();
  const notices = (within: HTMLElement): string =>
    within.querySelector("[role=status]")?.textContent ?? "";
  expect(notices(page)).toMatch(/Done\..*It is broken\./);
  expect(notices(other)).toBe("");
  await act(() => void vi.advanceTimersByTime(8000));
  expect(notices(page)).toMatch(/^It is broken\./);
  for (const label of ["Ask", "Yes"]) await pressButton(page, label);
  await settle();
  expect(page.querySelector("dialog [role=alert]")?.textContent).toContain("It is refused.");
});
