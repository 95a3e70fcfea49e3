import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  help: string;
  nodes: { html: string }[];
}

/**
 * What axe-core finds wrong in the page as it is shown now, in words. `only`: the one rule to look
 * at, which takes much less time.
 */
async function violationsOf(page: Page, only?: string): Promise<string[]> {
  // The page's CSP allows no script of a test; what the debugger evaluates is not under it.
  if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(only !== undefined && { runOnly: [only] }) };
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(${JSON.stringify(options)})`,
  );
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}

/** How far the page scrolls sideways, in pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)");

/**
 * Widths and colours, each with the rule of axe-core to look at: in other colours alone, only the
 * contrast can change.
 */
const LOOKS = [
  [360, "light", undefined],
  [360, "dark", "color-contrast"],
  [1920, "light", undefined],
  [1024, "dark", "color-contrast"],
] as const;
/** Where pictures are written, to look at. */
const PICTURES = process.env["PICTURES"];

/** The view that the page shows now is right, narrow and wide, in light and dark. */
export async function expectGoodLooks(page: Page, view: string): Promise<void> {
  const found: string[] = [];
  for (const [width, colorScheme, rule] of LOOKS) {
    const look = `${view} ${width} ${colorScheme}`;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const path = join(PICTURES ?? "", `${look.replaceAll("/", " ")}.png`);
    if (PICTURES !== undefined) await page.screenshot({ path, fullPage: true });
    if ((await overflowOf(page)) > 0) found.push(`${look} scrolls sideways`);
    found.push(...(await violationsOf(page, rule)).map((each) => `${look} ${each}`));
  }
  expect(found).toEqual([]);
}
