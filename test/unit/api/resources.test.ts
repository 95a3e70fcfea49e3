import { expect, test } from "vitest";
import { exampleOf, fits } from "./contract.js";
import { expectField } from "./expect-field.js";
import {
  boolean,
  dateTime,
  integer,
  objects,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  texts,
  type FieldKind,
} from "./field-kinds.js";

const TASK = exampleOf("readInvestigation");
const REPORT = TASK["report"] as Record<string, unknown>;
const UUID = "3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935";
const anything: FieldKind = { takes: [[], [1, "text", null, {}]], refuses: [null, {}, "text"] };

test.each<[row: string, kind: FieldKind]>([
  [
    "[task-resource/task_id]",
    {
      takes: [`task_${UUID}`, `task_${"-".repeat(36)}`],
      refuses: [UUID, "task_1", `task_${UUID}0`, `task_${UUID.toUpperCase()}`, `xtask_${UUID}`, null, 1],
    },
  ],
  ["[task-resource/type]", oneOf("promotion_investigation")],
  ["[task-resource/status]", oneOf("queued", "running", "succeeded", "failed", "cancelled")],
  ["[task-resource/stage]", oneOf("queued", "investigating", "generating_report", "complete")],
  ["[task-resource/status_url]", text],
  ["[task-resource/result_url]", orNull(text)],
  ["[task-resource/poll_after_seconds]", orNull(integer)],
  ["[task-resource/created_at]", dateTime],
  ["[task-resource/updated_at]", dateTime],
  ["[task-resource/completed_at]", orNull(dateTime)],
  ["[task-resource/error]", orNull(shape({ code: text, message: text }))],
  ["[task-resource/report]", { takes: [null, REPORT], refuses: [{}, "text", []] }],
])("a field of the task is what the document says, and always there %s", (row, kind) => {
  expectField("InvestigationTask", row, TASK, kind);
});

test("a task has twelve fields, and none may be left out [task-notes/twelve-fields-always]", () => {
  const names = Object.keys(TASK);
  expect(names).toHaveLength(12);
  for (const name of names) {
    const { [name]: _left, ...without } = TASK;
    expect(fits("InvestigationTask", without), name).toBe(false);
  }
});

const narrative = shape({
  title: optional(text),
  summary: optional(shape({ text, citations: anything })),
  sections: optional(anything),
  limitations: optional(text),
});

test.each<[row: string, kind: FieldKind]>([
  ["[report/version]", text],
  ["[report/generated_at]", orNull(dateTime)],
  ["[report/narrative]", orNull(narrative)],
  [
    "[report/summary]",
    shape({
      actionEvidenceCount: integer,
      channelCount: integer,
      contextLeadCount: integer,
      sourceCount: integer,
      unresolvedActionCount: integer,
    }),
  ],
  [
    "[report/analysis]",
    shape({
      overview: text,
      method: text,
      observations: anything,
      phases: anything,
      channels: anything,
      openQuestions: anything,
    }),
  ],
  ["[report/timeline]", objects],
  ["[report/strategies]", objects],
  ["[report/sources]", objects],
  ["[report/context_leads]", objects],
  ["[report/conclusion]", text],
  ["[report/limitations]", texts],
  ["[report/caveat]", text],
  [
    "[report/reliability]",
    shape({ actorAttribution: text, coverageLevel: text, growthCausality: text, growthImpact: text }),
  ],
  ["[report/omitted_action_count]", integer],
  ["[report/omitted_context_count]", integer],
])("a field of the report is what the document says %s", (row, kind) => {
  expectField("InvestigationReport", row, REPORT, kind);
});

test("the version of a report is any text [versioning/report-version]", () => {
  for (const version of ["1", "2026.03-beta", ""]) {
    expect(fits("InvestigationReport", { ...REPORT, version })).toBe(true);
  }
});

test.each<[row: string, kind: FieldKind]>([
  ["[webhook-resource/id]", text],
  ["[webhook-resource/url]", { takes: ["https://hooks.example/signals"], refuses: ["", "a text", null, 1] }],
  ["[webhook-resource/status]", oneOf("pending", "active", "paused", "deleted")],
  ["[webhook-resource/locale]", oneOf("en", "zh-CN")],
  // Open where it is read: the service may add signal types.
  ["[webhook-resource/signal_types]", texts],
  ["[webhook-resource/failure_count]", integer],
  ["[webhook-resource/created_at]", dateTime],
  ["[webhook-resource/updated_at]", dateTime],
  ["[webhook-resource/signing_secret]", text],
])("a field of the registration is what the document says %s", (row, kind) => {
  expectField("NewRegistration", row, exampleOf("registerWebhook"), kind);
});

test.each<[row: string, kind: FieldKind]>([
  ["[profile/tool_id]", integer],
  ["[profile/canonical_slug]", text],
  ["[profile/localized_slug]", text],
  ["[profile/name]", text],
  ["[profile/tagline]", optional(orNull(text))],
  ["[profile/short_description]", optional(orNull(text))],
  ["[profile/long_description]", optional(orNull(text))],
  ["[profile/official_url]", text],
  ["[profile/pricing_model]", text],
  ["[profile/listed_at]", dateTime],
  ["[profile/verification_status]", text],
  ["[profile/staleness_status]", text],
  ["[profile/has_free_plan]", boolean],
  ["[profile/has_free_trial]", boolean],
  ["[profile/has_api]", boolean],
  ["[profile/has_mcp]", boolean],
  ["[profile/requested_locale]", text],
  ["[profile/resolved_locale]", text],
  ["[profile/available_locales]", texts],
  ["[profile/categories]", objects],
])("a field of the profile is what the document says %s", (row, kind) => {
  expectField("ProductProfile", row, exampleOf("productProfile"), kind);
});

test("a profile may have fields that the document does not name [profile-notes/more-fields]", () => {
  expect(fits("ProductProfile", { ...exampleOf("productProfile"), a_field_of_tomorrow: { any: 1 } })).toBe(true);
});

test.each(["logo_url", "favicon_url", "screenshot_url", "primary_category_slug", "primary_category_name"])(
  "the field %s of a profile is text, null or not there [profile-notes/seen-fields]",
  (name) => {
    const whole = { ...exampleOf("productProfile"), [name]: "a text" };
    expectField("ProductProfile", name, whole, optional(orNull(text)));
  },
);

test("an error is a code, a message and maybe details, with the id of the request [error-envelope/shape]", () => {
  const details: FieldKind = { takes: [null, 1, {}, []], refuses: [], isOptional: true };
  const whole = { error: { code: "A", message: "b" }, request_id: "req_1" };
  expectField("ErrorEnvelope", "error", whole, shape({ code: text, message: text, details }));
  expectField("ErrorEnvelope", "request_id", whole, text);
});

test("timestamps are ISO 8601 date-times [all-resources/date-times]", () => {
  const fields: [Parameters<typeof fits>[0], Record<string, unknown>, string[]][] = [
    ["InvestigationTask", TASK, ["created_at", "updated_at", "completed_at"]],
    ["NewRegistration", exampleOf("registerWebhook"), ["created_at", "updated_at"]],
    ["ProductProfile", exampleOf("productProfile"), ["listed_at"]],
  ];
  for (const [resource, whole, names] of fields) {
    for (const name of names) {
      for (const value of dateTime.takes) expect(fits(resource, { ...whole, [name]: value }), name).toBe(true);
      expect(fits(resource, { ...whole, [name]: "2 March 2026" }), name).toBe(false);
    }
  }
});
