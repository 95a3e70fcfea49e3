import { expect, test } from "vitest";
import { investigationTaskSchema } from "../../../../../src/service/contract/investigation.js";
import { createInvestigations } from "../../../../../src/service/emulator/investigations/create-investigations.js";
import { INVESTIGATION_SCHEMA } from "../../../../../src/service/emulator/investigations/investigation-row.js";
import { systemRandom } from "../../../../../src/service/emulator/instance/random-source.js";
import { createEmulatorClock } from "../../../../../src/service/emulator/time/emulator-clock.js";
import { createScheduler } from "../../../../../src/service/emulator/time/scheduler.js";
import { createManualClock } from "../../../../../src/kit/testing/manual-clock.js";
import { assumptionsSchema } from "../../../../../src/service/emulator/instance/assumption-options.js";
import {
  handMadeMarket,
  LATEST,
  observed,
  product,
  SECTOR,
  visits,
} from "../research/hand-made-market.js";

const START = Date.UTC(2026, 10, 5, 12);
const SUCCEEDED_AFTER_MS = (20 + 240 + 80) * 1000;
const KEY = "0b0e7a52-63a4-4f0c-9d7c-0d3b9a1e5f77";
const INPUT = { slug: "larkvoice", locale: "en", idempotency_key: KEY } as const;

function keyNumber(index: number): string {
  return `0b0e7a52-63a4-4f0c-9d7c-${String(index).padStart(12, "0")}`;
}

function setUp() {
  const database = handMadeMarket({
    sector: [SECTOR],
    product: [product(7, "larkvoice"), product(8, "mute")],
    product_month: [
      visits(LATEST - 2, 7, [100, 0, 10, 90]),
      visits(LATEST - 1, 7, [160, 0, 20, 120]),
      visits(LATEST, 7, [140, 40, 20, 100]),
      visits(LATEST, 8, [1, 1, 1, 1]),
    ],
    observed_month: observed(LATEST - 2, LATEST - 1, LATEST),
    feature: [
      {
        feature_id: 1,
        tool_id: 7,
        kind: "feature",
        name_en: "Dubbing",
        name_zh: "配音",
        from_month: LATEST - 1,
      },
      {
        feature_id: 2,
        tool_id: 7,
        kind: "api",
        name_en: "Speech API",
        name_zh: "语音 API",
        from_month: LATEST,
      },
    ],
    plan: [],
    keyword: [
      {
        keyword_id: 1,
        keyword: "clone a voice",
        brand_type: "generic",
        cluster_id: null,
        sector_id: 3,
      },
    ],
    keyword_product_month: [{ month: LATEST, keyword_id: 1, tool_id: 7, traffic: 60 }],
  });
  database.exec(INVESTIGATION_SCHEMA);
  const base = createManualClock(START);
  const clock = createEmulatorClock(base);
  const scheduler = createScheduler(clock, base);
  const core = {
    database,
    clock,
    scheduler,
    random: systemRandom,
    assumptions: assumptionsSchema.parse({}),
  };
  return { database, base, scheduler, core, investigations: createInvestigations(core) };
}

test("a new investigation is queued, has all twelve fields and nothing to show yet [task-states/new-task] [limits/polling-interval]", () => {
  const { investigations } = setUp();
  const task = investigations.start(1, INPUT);
  expect(investigationTaskSchema.parse(task)).toEqual({
    task_id: task.task_id,
    type: "promotion_investigation",
    status: "queued",
    stage: "queued",
    status_url: `/v1/research/promotion-investigations/${task.task_id}`,
    result_url: null,
    poll_after_seconds: 60,
    created_at: "2026-11-05T12:00:00.000Z",
    updated_at: "2026-11-05T12:00:00.000Z",
    completed_at: null,
    error: null,
    report: null,
  });
});

test("it goes through its stages as time goes on, and succeeds with its report [task-states/succeeded-read] [services/investigations]", async () => {
  const { investigations, scheduler } = setUp();
  const { task_id } = investigations.start(1, INPUT);
  const seen: string[] = [];
  for (const seconds of [19, 20, 259, 260, 339, 340]) {
    await scheduler.advanceTo(START + seconds * 1000);
    // A read advances nothing, so the next one says the same.
    investigations.read(1, task_id);
    const { status, stage } = investigations.read(1, task_id);
    seen.push(`${seconds} ${status} ${stage}`);
  }
  expect(seen).toEqual([
    "19 queued queued",
    "20 running investigating",
    "259 running investigating",
    "260 running generating_report",
    "339 running generating_report",
    "340 succeeded complete",
  ]);
  const task = investigations.read(1, task_id);
  expect(task).toMatchObject({
    poll_after_seconds: null,
    result_url: task.status_url,
    error: null,
  });
  expect(task.completed_at).toBe(new Date(START + SUCCEEDED_AFTER_MS).toISOString());
  expect(task.report).not.toBeNull();
});

test("the same key and inputs give the same task back, also when it is finished and in other letters [task-states/same-key-same-inputs]", async () => {
  const { investigations, scheduler } = setUp();
  const first = investigations.start(1, INPUT);
  expect(investigations.start(1, { ...INPUT, idempotency_key: KEY.toUpperCase() })).toEqual(first);
  await scheduler.advanceTo(START + SUCCEEDED_AFTER_MS);
  const again = investigations.start(1, INPUT);
  expect(again).toMatchObject({ task_id: first.task_id, status: "succeeded" });
  expect(investigations.list({})).toEqual([
    { account_id: 1, slug: INPUT.slug, locale: INPUT.locale, ...again },
  ]);
});

test("the same key for another product or language is a conflict, and changes nothing [start-investigation-notes/key-conflict] [error-statuses/409]", () => {
  const { investigations, database } = setUp();
  investigations.start(1, INPUT);
  const before = database.serialize();
  for (const other of [{ slug: "mute" }, { locale: "zh-CN" } as const]) {
    expect(() => investigations.start(1, { ...INPUT, ...other })).toThrow(
      expect.objectContaining({ code: "IDEMPOTENCY_KEY_CONFLICT", status: 409 }),
    );
  }
  expect(database.serialize().equals(before)).toBe(true);
});

test("an idempotency key is an account's own [read-investigation-notes/foreign-id]", () => {
  const { investigations } = setUp();
  const mine = investigations.start(1, INPUT);
  const theirs = investigations.start(2, { ...INPUT, slug: "voice" });
  expect(theirs.task_id).not.toBe(mine.task_id);
  expect(() => investigations.read(1, theirs.task_id)).toThrow(
    expect.objectContaining({ code: "TASK_NOT_FOUND" }),
  );
});

test("a fourth is refused while three are active, and taken when one is finished [task-states-notes/three-active] [limits/active-investigations]", () => {
  const { investigations } = setUp();
  const tasks = [1, 2, 3].map((index) =>
    investigations.start(1, { ...INPUT, idempotency_key: keyNumber(index) }),
  );
  const fourth = { ...INPUT, idempotency_key: keyNumber(4) };
  expect(() => investigations.start(1, fourth)).toThrow(
    expect.objectContaining({ code: "ACTIVE_INVESTIGATIONS_EXCEEDED", status: 429 }),
  );
  // Another account has its own three, and a known key is no new task.
  expect(investigations.start(2, fourth).status).toBe("queued");
  expect(investigations.start(1, { ...INPUT, idempotency_key: keyNumber(2) }).task_id).toBe(
    tasks[1]?.task_id,
  );
  investigations.end(tasks[0]?.task_id ?? "", { status: "cancelled" });
  expect(investigations.start(1, fourth).status).toBe("queued");
});

test("a cancelled or failed one stays so, without a report [task-states/failed-or-cancelled]", async () => {
  const { investigations, scheduler } = setUp();
  const cancelled = investigations.start(1, INPUT);
  const failed = investigations.start(1, { ...INPUT, idempotency_key: keyNumber(2) });
  investigations.end(cancelled.task_id, { status: "cancelled" });
  investigations.end(failed.task_id, { status: "failed", code: "UPSTREAM", message: "It broke." });
  await scheduler.advanceTo(START + 3_600_000);
  expect(investigations.read(1, cancelled.task_id)).toMatchObject({
    status: "cancelled",
    report: null,
    error: null,
  });
  expect(investigations.read(1, failed.task_id)).toMatchObject({
    status: "failed",
    report: null,
    result_url: null,
    poll_after_seconds: null,
    error: { code: "UPSTREAM", message: "It broke." },
  });
  expect(() => investigations.end(failed.task_id, { status: "cancelled" })).toThrow(
    expect.objectContaining({ code: "TASK_NOT_FOUND" }),
  );
});

test("a slug that is no product's and no category's is not found", () => {
  const { investigations } = setUp();
  expect(() => investigations.start(1, { ...INPUT, slug: "nobody" })).toThrow(
    expect.objectContaining({ code: "PRODUCT_NOT_FOUND", status: 404 }),
  );
});

test("a product that was observed in one month alone cannot be investigated: the task fails", async () => {
  const { investigations, scheduler } = setUp();
  const { task_id } = investigations.start(1, { ...INPUT, slug: "mute" });
  await scheduler.advanceTo(START + SUCCEEDED_AFTER_MS);
  expect(investigations.read(1, task_id)).toMatchObject({
    status: "failed",
    report: null,
    error: { code: "INSUFFICIENT_EVIDENCE" },
  });
});

test("a report's timeline, sources and counters agree with the data and with one another", async () => {
  const { investigations, scheduler } = setUp();
  const english = investigations.start(1, INPUT);
  const chinese = investigations.start(1, {
    ...INPUT,
    locale: "zh-CN",
    idempotency_key: keyNumber(2),
  });
  await scheduler.advanceTo(START + SUCCEEDED_AFTER_MS);
  const report = investigations.read(1, english.task_id).report;
  expect(report).toMatchObject({
    timeline: [
      {
        month: "2026-09",
        kind: "new_feature",
        title: "larkvoice introduced Dubbing",
        visits: 300,
        traffic_change: 100,
      },
      {
        month: "2026-10",
        kind: "api_added",
        title: "larkvoice launched a public API",
        visits: 300,
        traffic_change: 0,
      },
    ],
    summary: {
      actionEvidenceCount: 2,
      channelCount: 4,
      contextLeadCount: 1,
      sourceCount: 3,
      unresolvedActionCount: 1,
    },
    sources: [
      { id: "source_1", kind: "traffic", url: "https://traffic-panel.example/larkvoice.example" },
      { id: "source_2", kind: "site", url: "https://larkvoice.example" },
      { id: "source_3", kind: "searches", url: "https://search-sample.example/larkvoice.example" },
    ],
    context_leads: [{ keyword: "clone a voice", traffic: 60, citations: ["source_3"] }],
    reliability: { actorAttribution: "observed", coverageLevel: "partial" },
    omitted_action_count: 0,
    omitted_context_count: 0,
  });
  const channels = report?.analysis.channels as { visits: number }[];
  expect(channels.reduce((sum, channel) => sum + channel.visits, 0)).toBe(300);
  expect(report?.analysis.phases).toMatchObject([
    {
      direction: "up",
      start_month: "2026-08",
      end_month: "2026-10",
      start_visits: 200,
      end_visits: 300,
    },
  ]);
  expect(investigations.read(1, chinese.task_id).report?.timeline[0]).toMatchObject({
    title: "larkvoice 推出配音",
  });
});
