import { expect, test } from "vitest";
import { isFiltered, queryOf } from "../../../src/cli/inbox/select-events.js";

test("--tenant finds the events whose id begins with the tenant and a slash", () => {
  expect(queryOf({ tenant: "acme" }).eventId).toBe("acme/");
  expect(queryOf({}).eventId).toBeUndefined();
  expect(isFiltered({ tenant: "acme" })).toBe(true);
});
