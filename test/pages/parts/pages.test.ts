// @vitest-environment happy-dom
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { expect, onTestFinished, test, vi } from "vitest";
import { ActivityChart } from "../../../src/page/inbox/browser/activity-chart.js";
import { ActionButton } from "../../../src/page/parts/actions.js";
import { useData } from "../../../src/page/parts/use-data.js";
import { DeskContext } from "../../../src/service/emulator/dashboard/control.js";
import { Deliveries } from "../../../src/service/emulator/dashboard/deliveries.js";
import { answerFetch, pressButton, settle, showPart } from "./show-part.js";

const never = new Promise<never>(() => {});

test("a chart of another range shows no bars of the range before it, while it loads and when that fails", async () => {
  const answer = {
    minutes: 15,
    spans: 96,
    now: 900_000,
    activity: [{ at: 0, accepted: 7, handedOff: 6, failed: 1 }],
  };
  let week: () => ReturnType<Parameters<typeof answerFetch>[0]> = () => never;
  answerFetch((path) => (path.includes("range=day") ? { json: answer } : week()));
  const page = await showPart(h(ActivityChart, {}));
  expect(page.querySelectorAll("rect").length).toBe(3);
  await pressButton(page, "Week");
  await settle();
  expect([page.querySelectorAll("rect").length, page.textContent]).toEqual([
    0,
    expect.stringContaining("… accepted"),
  ]);
  await pressButton(page, "Day");
  await settle();
  expect(page.querySelectorAll("rect").length).toBe(3);
  week = () => ({
    status: 503,
    json: { error: { code: "store_failed", message: "The store does not work." } },
  });
  await pressButton(page, "Week");
  await settle();
  expect(page.querySelectorAll("rect").length).toBe(0);
  expect(page.querySelector("[role=alert]")?.textContent).toContain("The store does not work.");
});

const desk = {
  account: { account_id: 1 },
  choose() {},
  apiKey: "",
  setApiKey() {},
  newSecret: null,
  setNewSecret() {},
} as never;

test.each([
  [20, 20, null],
  [21, 20, "#/deliveries?before=102"],
])(
  "of %i deliveries %i are shown, and a link to older ones only if there are any",
  async (count, shown, older) => {
    const delivery = {
      event_id: "evt_1",
      registration_id: "wh_1",
      event_type: "webhook.test",
      signal: null,
      state: "delivered",
      next_attempt_at: null,
    };
    const items = Array.from({ length: count }, (_, index) => {
      return {
        ...delivery,
        delivery_id: 121 - index,
        created_at: "2026-11-01T00:00:00Z",
        attempts: [],
      };
    });
    const operations = ["listDeliveries", "listRegistrations"].map((name) => {
      return { name, method: "GET", path: `/_emulator/${name.slice(4).toLowerCase()}`, input: {} };
    });
    answerFetch((path) => {
      if (path.endsWith("/_emulator")) return { json: { operations } };
      const limit = Number(new URLSearchParams(path.split("?")[1]).get("limit") ?? 0);
      return { json: { items: path.includes("/deliveries") ? items.slice(0, limit) : [] } };
    });
    location.hash = "#/deliveries";
    const page = await showPart(h(DeskContext.Provider, { value: desk }, h(Deliveries, null)));
    expect(page.querySelectorAll("tbody tr").length).toBe(shown);
    // What a narrow page shows before each cell.
    expect(
      [...page.querySelectorAll("td")].slice(0, 2).map((cell) => cell.dataset["label"]),
    ).toEqual(["Delivery", "Event"]);
    const link = [...page.querySelectorAll("a")].find(({ textContent }) => textContent === "Older");
    expect(link?.getAttribute("href") ?? null).toBe(older);
  },
);

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
  const page = await showPart([
    h(ActionButton, { label: "Do", run: () => Promise.resolve("Done.") }),
    h(ActionButton, { label: "Fail", run: () => Promise.reject(new Error("It is broken.")) }),
    h(ActionButton, {
      label: "Ask",
      confirm: { title: "Ask?", text: "", action: "Yes" },
      run: () => Promise.reject(new Error("It is refused.")),
    }),
  ]);
  const other = await showPart(h("p", null, "another page"));
  await pressButton(page, "Do");
  await pressButton(page, "Fail");
  await settle();
  const notices = (within: HTMLElement): string =>
    within.querySelector("[role=status]")?.textContent ?? "";
  expect(notices(page)).toMatch(/Done\..*It is broken\./);
  expect(notices(other)).toBe("");
  await act(() => void vi.advanceTimersByTime(8000));
  expect(notices(page)).toMatch(/^It is broken\./);
  await pressButton(page, "Ask");
  await pressButton(page, "Yes");
  await settle();
  expect(page.querySelector("dialog [role=alert]")?.textContent).toContain("It is refused.");
});
