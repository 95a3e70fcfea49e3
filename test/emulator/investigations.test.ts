import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { investigationTaskSchema } from "../../src/api/investigation.js";
import { openEmulator, refusal, startEmulator, type RunningEmulator } from "./start-emulator.js";

const START = "/research/promotion-investigations";

let running: RunningEmulator;
let slugs: string[];
beforeAll(async () => {
  running = await openEmulator();
  const { key } = await running.account("pro");
  const { body } = await running.ask("/research/rankings?limit=5", { key });
  slugs = (body["items"] as { slug: string }[]).map(({ slug }) => slug);
});
afterAll(() => running.emulator.close());

const wish = (slug: string, idempotency_key: string = randomUUID()) => ({ slug, idempotency_key, confirm_usage: true });

test("fifty simultaneous starts with one key make one task [task-states/same-key-same-inputs]", async () => {
  const { key, accountId } = await running.account("pro");
  const body = wish(slugs[0] ?? "");
  const told = await Promise.all(Array.from({ length: 50 }, () => running.ask(START, { key, body })));
  expect(new Set(told.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(told.map((each) => each.body["task_id"])).size).toBe(1);
  const { items } = await running.emulator.control.listInvestigations({ account_id: accountId });
  expect(items).toHaveLength(1);
});

test("the key with other inputs is a conflict, and other accounts have keys of their own [error-statuses/409] [start-investigation-notes/key-conflict] [read-investigation-notes/foreign-id]", async () => {
  const { key } = await running.account("pro");
  const body = wish(slugs[0] ?? "");
  const first = await running.ask(START, { key, body });
  for (const other of [
    { ...body, slug: slugs[1] },
    { ...body, locale: "zh-CN" },
  ]) {
    expect(refusal(await running.ask(START, { key, body: other }))).toEqual({
      status: 409,
      code: "IDEMPOTENCY_KEY_CONFLICT",
    });
  }
  const { key: stranger } = await running.account("pro");
  const second = await running.ask(START, { key: stranger, body });
  expect(second.status).toBe(202);
  expect(second.body["task_id"]).not.toBe(first.body["task_id"]);
  // Another account's task is as unknown as one that never was.
  expect(refusal(await running.ask(`${START}/${first.body["task_id"] as string}`, { key: stranger }))).toEqual({
    status: 404,
    code: "TASK_NOT_FOUND",
  });
});

test("three may be active, also when they are started at once [limits/active-investigations] [task-states-notes/three-active]", async () => {
  const { key, accountId } = await running.account("pro");
  const told = await Promise.all(slugs.map((slug) => running.ask(START, { key, body: wish(slug) })));
  const byStatus = (status: number) => told.filter((each) => each.status === status);
  expect([byStatus(202).length, byStatus(429).length]).toEqual([3, 2]);
  expect(byStatus(429).map(refusal)[0]?.code).toBe("ACTIVE_INVESTIGATIONS_EXCEEDED");
  const [first] = (await running.emulator.control.listInvestigations({ account_id: accountId })).items;
  await running.emulator.control.cancelInvestigation({ task_id: first?.task_id ?? "" });
  expect((await running.ask(START, { key, body: wish(slugs[4] ?? "") })).status).toBe(202);
});

test("a slug that names nothing gets 404, and takes nothing of the quota", async () => {
  const { key } = await running.account("developer");
  const told = await running.ask(START, { key, body: wish("no-such-thing-here") });
  expect(refusal(told)).toEqual({ status: 404, code: "PRODUCT_NOT_FOUND" });
  expect(told.headers.get("x-quota-remaining")).toBe("50");
});

test("a task goes on with the clock and never by a read, to a report [task-states-notes/reads-advance-nothing] [task-states/succeeded-read]", async () => {
  const own = await startEmulator();
  const { key } = await own.account("pro");
  const made = await own.ask(START, { key, body: wish(slugs[0] ?? "") });
  const path = made.body["status_url"] as string;
  expect(path.startsWith("/v1/")).toBe(true);
  const read = async () => {
    const { body } = await own.ask(path.slice(3), { key });
    return investigationTaskSchema.parse(body);
  };
  expect([made.status, await read(), await read()]).toEqual([202, made.body, made.body]);
  const seen: unknown[] = [];
  for (let poll = 0; poll < 7; poll++) {
    const { status, stage, poll_after_seconds, result_url } = await read();
    seen.push(`${status} ${stage} ${poll_after_seconds} ${result_url === null}`);
    await own.emulator.control.advance({ seconds: 60 });
  }
  expect([...new Set(seen)]).toEqual([
    "queued queued 60 true",
    "running investigating 60 true",
    "running generating_report 60 true",
    "succeeded complete null false",
  ]);
  const done = await read();
  expect(done.result_url).toBe(done.status_url);
  expect(done.report?.summary.sourceCount).toBe(done.report?.sources.length);
  expect(await read()).toEqual(done);
});

test("the control API lets a task fail or be cancelled, and then it stays so [task-states/failed-or-cancelled]", async () => {
  const { key } = await running.account("pro");
  const { control } = running.emulator;
  const start = async () => (await running.ask(START, { key, body: wish(slugs[0] ?? "") })).body["task_id"] as string;
  const failed = await start();
  await control.failInvestigation({ task_id: failed, code: "SOURCES_GONE", message: "Nothing to read." });
  const cancelled = await start();
  await control.cancelInvestigation({ task_id: cancelled });
  await control.advance({ hours: 1 });
  const read = async (taskId: string) => (await running.ask(`${START}/${taskId}`, { key })).body;
  expect(await read(failed)).toMatchObject({
    status: "failed",
    report: null,
    result_url: null,
    error: { code: "SOURCES_GONE", message: "Nothing to read." },
  });
  expect(await read(cancelled)).toMatchObject({ status: "cancelled", report: null, error: null });
  await expect(control.cancelInvestigation({ task_id: failed })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});
