import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { pageFile } from "../../src/page/parts/page-server.js";
/* oxlint-disable import/no-unassigned-import -- each of them registers its tests, in one file, so that all use one Chromium */
import "./journeys/dashboard.js";
import "./journeys/event.js";
import "./journeys/inbox.js";
import "./journeys/inbox-list.js";
import "./journeys/timeline.js";

test.each(["inbox", "dashboard"] as const)("the page %s loads less than 30 KB", (name) => {
  const html = String(pageFile(name, "", undefined)?.body);
  const assets = [...html.matchAll(/"(assets\/[^"]+)"/g)].map(
    ([, path = ""]) => pageFile(name, path, "gzip")?.body,
  );
  const bytes = [gzipSync(html), ...assets].reduce(
    (sum, body) => sum + (body?.byteLength ?? NaN),
    0,
  );
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(30_000);
});
