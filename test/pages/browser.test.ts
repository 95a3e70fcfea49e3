import { expect, test } from "vitest";
/* oxlint-disable import/no-unassigned-import -- each of them registers its tests, in one file, so that all use one Chromium */
import "./journeys/dashboard.js";
import "./journeys/inbox.js";
import "./journeys/timeline.js";
import { loadedBytes } from "./page-checks.js";

test.each(["inbox", "dashboard"] as const)("the page %s loads less than 30 KB", (name) => {
  expect(loadedBytes(name)).toBeGreaterThan(10_000);
  expect(loadedBytes(name)).toBeLessThan(30_000);
});
