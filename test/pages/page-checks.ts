import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { pageFile, type PageName } from "../../src/browser-parts/page-files.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  help: string;
  nodes: { html: string }[];
}

/**
 * What axe-core finds wrong in the page as it is shown now, in words.
 *
 * @param only the one rule to look at, which takes much less time: in the other colours of a view nothing else can change
 */
export async function violationsOf(page: Page, only?: "color-contrast"): Promise<string[]> {
  // The page's CSP allows no script of a test; what the debugger evaluates is not under it.
  if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(only !== undefined && { runOnly: [only] }) };
  const { violations } = await page.evaluate<{ violations: Violation[] }>(`axe.run(${JSON.stringify(options)})`);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** How far the page scrolls sideways, in pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>("Math.max(0, document.documentElement.scrollWidth - innerWidth)");

interface Focusable {
  ownerDocument: { activeElement: unknown };
}

export const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate((element: Focusable) => element === element.ownerDocument.activeElement);

/** Presses Tab until an element with this accessible name and role has the focus. */
export async function tabTo(
  page: Page,
  role: "button" | "link" | "textbox" | "checkbox" | "combobox",
  name: string,
): Promise<void> {
  const target = page.getByRole(role, { name, exact: true });
  for (let presses = 0; presses < 120; presses++) {
    if (await hasFocus(target)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach the ${role} ${name}`);
}

/** The bytes that a browser loads to show a page: the page, and the script parts and styles that it names. */
export function loadedBytes(name: PageName): number {
  const html = pageFile(name, "", "gzip")?.body ?? Buffer.alloc(0);
  const assets = [...html.toString().matchAll(/"(assets\/[^"]+)"/g)].map(([, path = ""]) =>
    pageFile(name, path, "gzip"),
  );
  return assets.reduce((sum, asset) => sum + (asset?.body.byteLength ?? 0), gzipSync(html).byteLength);
}
