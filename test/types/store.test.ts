import { expectTypeOf, test } from "vitest";
import type { InboxStore } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory.js";
import { postgresStore } from "../../src/stores/postgres/postgres-store.js";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";

test("the stores of the package are inbox stores", () => {
  expectTypeOf(memoryStore).returns.toExtend<InboxStore>();
  expectTypeOf(sqliteStore).returns.toExtend<InboxStore>();
  expectTypeOf(postgresStore).returns.toExtend<InboxStore>();
});
