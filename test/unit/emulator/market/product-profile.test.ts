import { expect, test } from "vitest";
import { productProfileSchema } from "../../../../src/api/product-profile.js";
import { growMonth } from "../../../../src/emulator/market/generator/generate-market.js";
import { readProductProfile } from "../../../../src/emulator/market/read-product-profile.js";
import { resolveLocale } from "../../../../src/emulator/market/locale.js";
import { LAST, madeMarket, rowsOf } from "./made-market.js";

const market = madeMarket(1);
const products = rowsOf<{ tool_id: number; slug: string; sector_id: number; pricing_model: string }>(
  market,
  "SELECT * FROM product",
);

test("every product has a profile that fits the contract, in both languages", () => {
  for (const { slug, tool_id } of products) {
    const [english, chinese] = [readProductProfile(market, slug, "en"), readProductProfile(market, slug, "zh-CN")];
    for (const profile of [english, chinese]) {
      expect(productProfileSchema.safeParse(profile).error).toBeUndefined();
      expect(profile).toMatchObject({ tool_id, canonical_slug: slug });
    }
    expect(english?.resolved_locale).toBe("en");
    expect(chinese?.resolved_locale).toBe("zh-CN");
    expect(english?.tagline).not.toBe(chinese?.tagline);
    expect(english?.primary_category_name).not.toBe(chinese?.primary_category_name);
  }
});

test("what a product has follows from its plans and features, and both answers occur", () => {
  const has = (sql: string, toolId: number): boolean => rowsOf(market, sql, toolId).length > 0;
  const seen = new Set<string>();
  for (const { slug, tool_id, sector_id } of products) {
    const profile = readProductProfile(market, slug, "en");
    const expected = {
      has_free_plan: has("SELECT 1 FROM plan WHERE tool_id = ? AND kind = 'free' AND until_month IS NULL", tool_id),
      has_free_trial: has("SELECT 1 FROM plan WHERE tool_id = ? AND trial_days > 0 AND until_month IS NULL", tool_id),
      has_api: has("SELECT 1 FROM feature WHERE tool_id = ? AND kind = 'api'", tool_id),
      has_mcp: has("SELECT 1 FROM feature WHERE tool_id = ? AND kind = 'mcp'", tool_id),
    };
    expect(profile).toMatchObject(expected);
    for (const [name, value] of Object.entries(expected)) seen.add(`${name} ${value}`);
    expect(profile?.categories[0]).toMatchObject({
      id: sector_id,
      is_primary: true,
      slug: profile?.primary_category_slug,
    });
    expect(profile?.categories.slice(1).every((category) => category["is_primary"] === false)).toBe(true);
  }
  expect(seen.size).toBe(8);
});

test("a free plan that was dropped is no longer told", () => {
  const dropped = rowsOf<{ slug: string }>(
    market,
    `SELECT DISTINCT slug FROM plan p JOIN product USING (tool_id) WHERE kind = 'free' AND until_month IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM plan l WHERE l.tool_id = p.tool_id AND l.kind = 'free' AND l.until_month IS NULL)`,
  );
  expect(dropped.length).toBeGreaterThan(3);
  for (const { slug } of dropped) expect(readProductProfile(market, slug, "en")?.has_free_plan).toBe(false);
});

test("an unknown slug has no profile", () => {
  for (const slug of ["", "no-such-product", "'; DROP TABLE product", "video-generation"]) {
    expect(readProductProfile(market, slug, "en")).toBeNull();
  }
});

test("Chinese in any spelling is zh-CN, everything else en", () => {
  for (const text of ["zh", "zh-CN", "zh-cn", "zh_CN", "ZH", "zh-Hans-CN"])
    expect(resolveLocale(text), text).toBe("zh-CN");
  for (const text of ["en", "", "de", "zhuang", "cn", "x-zh", "🀄"]) expect(resolveLocale(text), text).toBe("en");
});

test("the texts of a profile read well, and say of whom it is for what the tagline says", () => {
  // Some say something else since they were first seen.
  expect(rowsOf(market, "SELECT 1 FROM product_change WHERE kind = 'tagline'").length).toBeGreaterThan(3);
  for (const { slug } of products) {
    const { tagline, short_description, long_description } = readProductProfile(market, slug, "en") ?? {};
    const audience = /^(?:The .+? (?:made )?|Made )for ([^:,]+)(?:, the .+)?(?:: [a-z][^.]+)?$/.exec(
      tagline ?? "",
    )?.[1];
    expect(short_description).toMatch(new RegExp(`^\\S.* is an? .* for ${audience}\\.$`));
    const long = long_description ?? `${short_description} It.`;
    expect(long.startsWith(`${short_description} `), slug).toBe(true);
    expect(long).toMatch(/\.$/);
    const chinese = readProductProfile(market, slug, "zh-CN");
    expect(chinese?.long_description ?? "。").toMatch(/。$/);
    const all = [tagline, short_description, long, chinese?.tagline, chinese?.short_description].join("\n");
    expect(all).not.toMatch(/, (?:that|in|at|without) | {2}|undefined|\.\.|，。/);
  }
});

test("a product that came with a month has its profile then", () => {
  const before = new Set(rowsOf<{ slug: string }>(market, "SELECT slug FROM product").map(({ slug }) => slug));
  growMonth(market, 1, LAST + 1);
  const added = rowsOf<{ slug: string }>(market, "SELECT slug FROM product").filter(({ slug }) => !before.has(slug));
  expect(added.length).toBeGreaterThan(0);
  for (const { slug } of added)
    expect(readProductProfile(market, slug, "en")).toMatchObject({ verification_status: "pending" });
});
