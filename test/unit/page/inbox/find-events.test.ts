import { expect, test } from "vitest";
import { withTerm } from "../../../../src/page/inbox/browser/find-events.js";

test.each([
  ["", "type", "new_model", "type:new_model"],
  ["state:dead TYPE:price_increased", "type", "new_model", "state:dead type:new_model"],
  ["product:acme state:dead", "subject", "", "state:dead"],
  // What stands in quotes is no term.
  ['error:"bad type:x y"', "type", "new_model", 'error:"bad type:x y" type:new_model'],
  ["state:dead", "subject", "octo repo", 'state:dead subject:"octo repo"'],
] as const)("the search %j with the %s %j is %j", (search, term, value, wanted) => {
  expect(withTerm(search, term, value)).toBe(wanted);
});
