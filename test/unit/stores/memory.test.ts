import { expect, test } from "vitest";
import { memoryStore } from "../../../src/stores/memory.js";
import { rejectionOf } from "../signalbox-error-of.js";

test("a second receiver of the same endpoint is refused, since its start would free the first one's leases", async () => {
  const store = memoryStore();
  await store.open({ endpoint: "default" });
  await store.open({ endpoint: "second" });
  expect((await rejectionOf(store.open({ endpoint: "default" }))).code).toBe("store_in_use");
  await store.close("default");
  await store.open({ endpoint: "default" });
});
