import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../../src/index.js";
import { registerWebhookBodySchema } from "../../../src/api/webhook-registration.js";
import { startInvestigationBodySchema } from "../../../src/api/investigation.js";
import { fits, readQuery } from "./contract.js";
import { expectField } from "./expect-field.js";
import { optional, type FieldKind } from "./field-kinds.js";

const UUID = "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94";
const START = { slug: "aurora-notes", locale: "en", idempotency_key: UUID, confirm_usage: true };
const REGISTER = { url: "https://hooks.example/signals", locale: "en", signal_types: ["traffic_breakout"] };
const MAX = Number.MAX_SAFE_INTEGER;

const longUrl = (length: number): string => "https://hooks.example/".padEnd(length, "a");
const locale: FieldKind = { takes: ["en", "zh-CN"], refuses: ["zh", "EN", "", null, 1], isOptional: true };

const SLUG: FieldKind = {
  takes: ["a", "7", "a-", "a--b", "gpt-4o", "a".repeat(200)],
  refuses: ["", "-a", "A", "a_b", "a b", "a/b", "é", "a\n", "a".repeat(201), null, 1],
};
const ODD = ["\u0000", "\u007f", "\n", " ", "\u00a0", "\\", "é", "<", '"', "`", "{", "^", "|", "%", "%4g"];
const URL_KIND: FieldKind = {
  takes: [
    "https://hooks.example",
    "https://hooks.example:8443/a?b=%C3%A9&c=~!$'()*+,;=:@",
    "https://[::1]/",
    longUrl(2048),
  ],
  refuses: [
    longUrl(2049),
    "",
    "hooks.example/signals",
    "not an address",
    null,
    1,
    // What a parser of URLs mends is no URI yet.
    ...ODD.flatMap((odd) => [`https://hooks.example${odd}`, `https://hooks.example/a${odd}b`]),
    "https:hooks.example",
    "https:/hooks.example",
    "https:///hooks.example",
    "https://hooks.example/[a]",
    String.raw`https:\\hooks.example`,
    "https://ho\noks.example",
    " https://hooks.example",
    "https://例え.jp",
  ],
};
const SUBSCRIBED: FieldKind = {
  takes: [[SIGNAL_TYPES[0]], SIGNAL_TYPES.slice(0, 30), SIGNAL_TYPES.slice(-8)],
  refuses: [[], SIGNAL_TYPES.slice(0, 31), ["a_type_of_next_year"], [1], [null], null, "traffic_breakout", {}],
};

test.each<[row: string, kind: FieldKind]>([
  ["[start-investigation-body/slug] [limits/slug]", SLUG],
  ["[start-investigation-body/locale]", locale],
  [
    "[start-investigation-body/idempotency_key]",
    {
      takes: [
        ...["1", "2", "3", "4", "5", "6", "7", "8"].map((version) => `9b2f6c1e-4d7a-${version}f3b-8e5c-1a6d0b7f2c94`),
        ...["8", "9", "a", "b", "A", "B"].map((variant) => `9b2f6c1e-4d7a-4f3b-${variant}e5c-1a6d0b7f2c94`),
        UUID.toUpperCase(),
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
      ],
      refuses: [
        ...["0", "9", "a", "f"].map((version) => `9b2f6c1e-4d7a-${version}f3b-8e5c-1a6d0b7f2c94`),
        ...["0", "7", "c", "f"].map((variant) => `9b2f6c1e-4d7a-4f3b-${variant}e5c-1a6d0b7f2c94`),
        "",
        UUID.slice(1),
        `${UUID}0`,
        `{${UUID}}`,
        UUID.replaceAll("-", ""),
        `${UUID}\n`,
        null,
        1,
      ],
    },
  ],
  ["[start-investigation-body/confirm_usage]", { takes: [true], refuses: [false, "true", 1, null] }],
])("what starts an investigation is bound as the document says %s", (row, kind) => {
  expectField("StartInvestigationBody", row.replace(/ .*/, ""), START, kind);
});

test.each<[row: string, kind: FieldKind]>([
  ["[register-webhook-body/url] [limits/url]", URL_KIND],
  ["[register-webhook-body/locale]", locale],
  ["[register-webhook-body/signal_types] [limits/signal-types]", SUBSCRIBED],
])("what registers a webhook is bound as the document says %s", (row, kind) => {
  expectField("RegisterWebhookBody", row.replace(/ .*/, ""), REGISTER, kind);
});

test("locales are en and zh-CN, and en without one [all-resources/locales]", () => {
  const { locale: _started, ...start } = START;
  const { locale: _registered, ...register } = REGISTER;
  expect(startInvestigationBodySchema.parse(start).locale).toBe("en");
  expect(registerWebhookBodySchema.parse(register).locale).toBe("en");
  expect(startInvestigationBodySchema.parse({ ...start, locale: "zh-CN" }).locale).toBe("zh-CN");
});

test("unknown keys in what starts an investigation are refused [start-investigation-notes/unknown-keys]", () => {
  for (const key of ["extra", "Slug", "task_id"])
    expect(fits("StartInvestigationBody", { ...START, [key]: 1 })).toBe(false);
});

test("unknown keys in what registers a webhook are refused [register-webhook-notes/unknown-keys]", () => {
  for (const key of ["extra", "URL", "signing_secret"]) {
    expect(fits("RegisterWebhookBody", { ...REGISTER, [key]: 1 })).toBe(false);
  }
});

/** A parameter: its default, and what stands at the edges of what it takes. */
interface Parameter extends FieldKind {
  default: unknown;
}

const parameter = (byDefault: unknown, takes: readonly unknown[], refuses: readonly unknown[]): Parameter => ({
  ...optional({ takes, refuses }),
  default: byDefault,
});
/** What is outside the basic plane is one character, as JSON Schema counts, though two units of a JavaScript string. */
const text = (longest: number, byDefault?: string): Parameter =>
  parameter(
    byDefault,
    ["", "a", "文字", "a".repeat(longest), "😀".repeat(longest)],
    ["a".repeat(longest + 1), "😀".repeat(longest + 1), null, 1, []],
  );
const integer = (byDefault: unknown, least: number, most: number): Parameter =>
  parameter(byDefault, [least, least + 1, most], [least - 1, ...(most < MAX ? [most + 1] : [2 ** 53]), 1.5, "1", null]);
const number = (least: number, most: number): Parameter =>
  parameter(least, [least, 0.1, most], [least - 0.001, most + 0.001, "1", null]);
const choice = (byDefault: string, ...others: readonly string[]): Parameter =>
  parameter(byDefault, [byDefault, ...others], ["", "another", byDefault.toUpperCase(), null, 1]);

function expectParameter(name: "searchDemand" | "rankings", row: string, kind: Parameter): void {
  const key = /\/([^\]]+)\]/.exec(row)?.[1] ?? "";
  expect(readQuery(name, {})?.[key], "default").toEqual(kind.default);
  for (const value of kind.takes) expect(readQuery(name, { [key]: value })?.[key]).toEqual(value);
  for (const value of kind.refuses) expect(readQuery(name, { [key]: value }), JSON.stringify(value)).toBeNull();
}

test.each<[row: string, kind: Parameter]>([
  ["[search-demand-query/locale] [all-resources/free-locale]", text(20, "en")],
  ["[search-demand-query/q]", text(120)],
  ["[search-demand-query/market]", text(120)],
  ["[search-demand-query/type]", choice("non_brand", "all", "brand")],
  ["[search-demand-query/min_products]", parameter(1, [1, 2, 3, 5], [0, 4, 6, 1.5, "1", null])],
  ["[search-demand-query/min_traffic]", integer(0, 0, 10_000_000_000)],
  ["[search-demand-query/min_volume]", integer(0, 0, 10_000_000_000)],
  ["[search-demand-query/sort]", choice("traffic", "volume", "products")],
  ["[search-demand-query/page] [limits/page]", integer(1, 1, 1000)],
  ["[search-demand-query/limit] [limits/limit]", integer(25, 1, 50)],
  ["[search-demand-query/keyword_id]", integer(undefined, 0, MAX)],
])("a parameter of the search demand is bound as the document says %s", (row, kind) => {
  expectParameter("searchDemand", row, kind);
});

test.each<[row: string, kind: Parameter]>([
  ["[rankings-query/locale]", text(20, "en")],
  ["[rankings-query/category]", text(120)],
  [
    "[rankings-query/country]",
    parameter(undefined, ["de", "DE", "dE"], ["", "d", "deu", "d1", "é1", " de", "de\n", null]),
  ],
  ["[rankings-query/q]", text(80)],
  ["[rankings-query/sort]", choice("growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid")],
  ["[rankings-query/order]", choice("desc", "asc")],
  ["[rankings-query/min_traffic]", integer(1000, 0, MAX)],
  ["[rankings-query/min_growth]", number(0, 100)],
  ["[rankings-query/min_dr]", number(0, 100)],
  ["[rankings-query/min_dr_gain]", number(0, 100)],
  ["[rankings-query/max_domain_age_months]", integer(0, 0, 120)],
  ["[rankings-query/page] [limits/page]", integer(1, 1, 200)],
  ["[rankings-query/limit] [limits/limit]", integer(25, 1, 50)],
])("a parameter of the rankings is bound as the document says %s", (row, kind) => {
  expectParameter("rankings", row, kind);
});

test("the retired parameter view is refused, and every other unknown one [versioning/view-is-retired] [search-demand-notes/view-is-retired]", () => {
  expect(readQuery("searchDemand", { view: "keywords" })).toBeNull();
  expect(readQuery("searchDemand", { Page: 1 })).toBeNull();
  expect(readQuery("rankings", { min_visits: 1 })).toBeNull();
});
