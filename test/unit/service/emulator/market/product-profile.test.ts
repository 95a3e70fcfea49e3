import { expect, test } from "vitest";
import { productProfileSchema } from "../../../../../src/service/contract/product-profile.js";
import { growMonth } from "../../../../../src/service/emulator/market/create-market.js";
import { resolveLocale } from "../../../../../src/service/emulator/market/format-values.js";
import { readProductProfile } from "../../../../../src/service/emulator/market/read-product-profile.js";
import { LAST, madeMarket, rowsOf } from "./made-market.js";

const market = madeMarket(1);
const products = rowsOf<{
  tool_id: number;
  slug: string;
  sector_id: number;
  pricing_model: string;
}>(market, "SELECT * FROM product");

test("every product has a profile that fits the contract, in both languages", () => {
  for (const { slug, tool_id } of products) {
    const [english, chinese] = [
      readProductProfile(market, slug, "en"),
      readProductProfile(market, slug, "zh-CN"),
    ];
    for (const profile of [english, chinese]) {
      expect(productProfileSchema.safeParse(profile).error).toBeUndefined();
      expect(profile).toMatchObject({ tool_id, canonical_slug: slug });
      expect(JSON.stringify(profile)).not.toMatch(/undefined|NaN| {2}|\.\.|，。/);
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
      has_free_plan: has(
        "SELECT 1 FROM plan WHERE tool_id = ? AND kind = 'free' AND until_month IS NULL",
        tool_id,
      ),
      has_free_trial: has(
        "SELECT 1 FROM plan WHERE tool_id = ? AND trial_days > 0 AND until_month IS NULL",
        tool_id,
      ),
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
    expect(profile?.categories.slice(1).every((category) => category["is_primary"] === false)).toBe(
      true,
    );
  }
  expect(seen.size).toBe(8);
});

test("an unknown slug has no profile", () => {
  for (const slug of ["", "no-such-product", "'; DROP TABLE product", "video-generation"]) {
    expect(readProductProfile(market, slug, "en")).toBeNull();
  }
});

test("Chinese in any spelling is zh-CN, everything else en", () => {
  for (const text of ["zh", "zh-CN", "zh-cn", "zh_CN", "ZH", "zh-Hans-CN"])
    expect(resolveLocale(text), text).toBe("zh-CN");
  for (const text of ["en", "", "de", "zhuang", "cn", "x-zh", "🀄"])
    expect(resolveLocale(text), text).toBe("en");
});

test("a product that came with a month has its profile then", () => {
  const before = new Set(
    rowsOf<{ slug: string }>(market, "SELECT slug FROM product").map(({ slug }) => slug),
  );
  growMonth(market, LAST + 1);
  const added = rowsOf<{ slug: string }>(market, "SELECT slug FROM product").filter(
    ({ slug }) => !before.has(slug),
  );
  expect(added.length).toBeGreaterThan(0);
  for (const { slug } of added)
    expect(readProductProfile(market, slug, "en")).toMatchObject({
      verification_status: "pending",
    });
});
