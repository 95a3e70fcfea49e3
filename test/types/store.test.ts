import { expectTypeOf, test } from "vitest";
import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { postgresStore } from "../../src/kit/stores/postgres/postgres-store.js";
import { sqliteStore } from "../../src/kit/stores/sqlite/sqlite-store.js";

test("the stores of the package are inbox stores", () => {
  expectTypeOf(memoryStore).returns.toExtend<InboxStore>();
  expectTypeOf(sqliteStore).returns.toExtend<InboxStore>();
  expectTypeOf(postgresStore).returns.toExtend<InboxStore>();
});
