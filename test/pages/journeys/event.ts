import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { github, twilio } from "../../../src/kit/senders/index.js";
import { tempFolder } from "../../unit/temp-folder.js";
import { nextEvent } from "../../http/serve.js";
import { HOSTILE, SHOWN } from "../hostile-texts.js";
import { own } from "../../unit/kit/senders/sender-rig.js";
import { openInbox } from "../open-inbox.js";
import { refuse } from "../serve-page.js";

test("a payload is a tree that is searched, and its paths, values and commands are copied as they are", async () => {
  const { page, see, show, click, receive, ...inbox } = await openInbox({ onSignal: () => {} });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = (): Promise<string> => page.evaluate("navigator.clipboard.readText()");
  const title = "It's '; touch attacked; echo $(id)\\\n`";
  const event = signalEvent("new_feature", { id: "sig_1", data: { title } });
  const body = JSON.stringify(event).replace(
    '"data":{',
    '"data":{"big":12345678901234567890,"a b":[[1]],',
  );
  await receive(body);
  await show("events/sig_1");
  await see("Done in");
  const tree = page.locator(".tree");
  await inbox.fill("Find in the payload", "BIG");
  await see('"12345678901234567890"');
  expect(await tree.locator("details, div").count()).toBe(3);
  await inbox.fill("Find in the payload", "");
  await click('path: data["a b"][0][0]');
  expect(await copied()).toBe('data["a b"][0][0]');
  await click("value: data.title");
  expect(await copied()).toBe(title);
  await inbox.look("inbox an event");

  await click("Copy as send");
  const [write = "", send] = (await copied()).split(/\n(?=npx)/);
  expect(send).toBe("npx signalbox send event.json --url http://localhost:3000/webhooks/signals");
  const folder = tempFolder();
  execFileSync("sh", ["-c", write], { cwd: folder });
  expect(readFileSync(join(folder, "event.json"), "utf8")).toBe(body);
  expect(readdirSync(folder)).toEqual(["event.json"]);
});

test("a form is shown decoded, and what is nested too deep as a text", async () => {
  const sender = twilio({ publicUrl: "https://hooks.example/sms" });
  const { page, see, show, receiver } = await openInbox({
    sender,
    secrets: "0123456789abcdef0123456789abcdef",
    onSignal: undefined,
    onEvent: () => {},
  } as never);
  const body = "MessageSid=SM1&SmsStatus=sent&Body=%D7%A9+%26%3Cb%3E&Media=one&Media=two";
  await receiver.accept({ body, headers: {} });
  const [entry] = await receiver.inbox.list();
  await show(`events/${entry?.eventId}`);
  await see("form, decoded");
  await see('"ש &<b>"');
  await see('"one"');
  await see('"two"');
  await receiver.accept({ body: `{"a":${"[".repeat(40_000)}${"]".repeat(40_000)}}`, headers: {} });
  const [, deep] = await receiver.inbox.list();
  await show(`events/${deep?.eventId}`);
  await see('{"a":[[[[');
  expect(await page.locator(".tree").count()).toBe(0);
});

test("a waiting event says what it waits for, leads to those of its subject, and r hands it off", async () => {
  let isDown = true;
  const { see, show, press, page, ...inbox } = await openInbox({
    endpoint: "ledger",
    handoff: { backoff: () => 60_000 },
    onSignal: () => {
      if (isDown) throw new Error("The ledger is down.");
    },
  });
  const failed = nextEvent(inbox.receiver, "handoffFailed");
  const data = { product: { slug: "cobalt" } };
  for (let number = 1; number <= 12; number += 1)
    await inbox.receive(signalEvent("price_increased", { id: `sig_${number}`, data }));
  await failed;
  await show("events/sig_2");
  await see(/Waits: hand-offs of ledger are paused, next try in \d+ s\./);
  expect(await inbox.textOf("Last error")).toContain("The ledger is down.");
  await see("Same subject: cobalt");
  await page.locator(".timeline a[href]").first().click();
  await page.locator("dd code", { hasText: /^sig_1$/ }).waitFor();
  isDown = false;
  await press("r");
  await inbox.confirm("Hand off now");
  await see(/Done in .*, \d tries\./);
});

test("the payload is compared with that of the event before of its subject, when a person asks", async () => {
  const { page, see, show, receiver, press, ...inbox } = await openInbox({
    sender: own({
      signature: { header: "x-own" },
      read: ({ json }) => ({ id: json.id, type: json.type, subject: json.about }),
    }),
    secrets: "0123456789abcdef0123456789abcdef",
    onSignal: undefined,
    onEvent: () => {},
  } as never);
  const loads: string[] = [];
  page.on("request", (request) => {
    const [, id] = /api\/event\?id=(\w+)/.exec(request.url()) ?? [];
    if (id !== undefined) loads.push(id);
  });
  const take = (id: string, type: string, data: object) =>
    receiver.accept({ body: JSON.stringify({ id, type, about: "שם/1", data }), headers: {} });
  const many = Array.from({ length: 40 }, () => 1);
  await take("evt_1", "changed", { plan: 24, gone: HOSTILE, many });
  await take("evt_2", "made", { many: many.map((each) => each + 1) });
  const [tag = ""] = HOSTILE;
  await take("evt_3", "changed", { plan: 29, [tag]: HOSTILE[4], many });
  await show("events/evt_3");
  const summary = page.locator("summary", { hasText: "Difference to the changed before" });
  await summary.focus();
  expect(loads).not.toContain("evt_1");
  await press("Enter");
  const rows = page.locator("details", { has: summary }).locator("li");
  await rows.first().waitFor();
  // What happens meanwhile loads the event itself again.
  expect(loads.filter((id) => id !== "evt_3")).toEqual(["evt_1"]);
  const shown = await rows.allInnerTexts();
  expect(shown).toEqual([
    'id "evt_1" → "evt_3"',
    "data.plan 24 → 29",
    expect.stringMatching(/^data\.gone \[.{199}… removed$/),
    `data[${JSON.stringify(tag)}] added "${SHOWN[4]}"`,
  ]);
  await inbox.expectHarmless();
  await inbox.look("inbox the difference of two events");

  await inbox.follow("שם/1");
  await see("3 events shown");
  // No event before it has its type.
  await show("events/evt_2");
  await page.getByText("Difference to the changed before").click();
  await see(/^and 1\d more$/);
});

test("an event whose payload is cut is compared with none", async () => {
  const { see, show, receive, page } = await openInbox({ onSignal: () => {} });
  for (const [id, length] of Object.entries({ sig_1: 1, sig_2: 1, sig_3: 110_000 })) {
    const data = { product: { slug: "cobalt" }, summary: "x".repeat(length) };
    await receive(signalEvent("price_increased", { id, data }));
  }
  await show("events/sig_3");
  await see("Same subject: cobalt");
  expect(await page.getByText("Difference to").count()).toBe(0);
  await show("events/sig_2");
  await page.getByText("Difference to").click();
  await see('id "sig_1" → "sig_2"');
});

test("a difference without a row says whether the payloads are equal or the earlier one is gone", async () => {
  const { page, see, show, receiver } = await openInbox({
    sender: github(),
    onSignal: undefined,
    onEvent: { issues: refuse },
  } as never);
  const body = JSON.stringify({ action: "opened", repository: { full_name: "octo/repo" } });
  for (const id of ["evt_1", "evt_2"]) {
    const isDead = nextEvent(receiver, "dead");
    const headers = { "x-github-event": "issues", "x-github-delivery": id };
    await receiver.accept({ body, headers });
    await isDead;
  }
  await show("events/evt_2");
  await page.getByText("Difference to").click();
  await see("No value differs.");
  await receiver.inbox.discard("evt_1");
  await page.reload();
  await page.getByText("Difference to").click();
  await see("The payload before is deleted.");
});
