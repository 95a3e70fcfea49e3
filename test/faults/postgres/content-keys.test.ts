import { createHash } from "node:crypto";
import { expect } from "vitest";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { newSchema, openStore, testOnPostgres } from "./open-stores.js";

const IDS = Array.from({ length: 40 }, (_, index) => `evt_${index}`);

/** As a sender would deliver it whose ids are not signed. */
function unsigned(eventId: string, content: string) {
  const contentKey = createHash("sha256").update(content).digest();
  return newEvent(eventId, { body: Buffer.from(content), contentKey });
}

testOnPostgres("commits of two processes with the same ids and contents, crossed, do not deadlock", async () => {
  const { schema } = newSchema();
  const stores = [await openStore(schema), await openStore(schema)] as const;
  for (let round = 0; round < 20; round++) {
    // In the order of its ids each process has the contents of the other in the opposite order.
    const ids = IDS.map((id) => `${id}_${round}`).toSorted();
    const batches = [ids, ids.toReversed()].map((contents, process) =>
      ids.map((id, index) => unsigned(`${id}_${process}`, contents[index] as string)),
    );
    const results = await Promise.all(
      stores.map((store, process) => commit(store, { accepts: batches[process] ?? [] })),
    );
    const accepted = results.flatMap(({ accepts }) => accepts).filter(({ status }) => status === "accepted");
    expect(accepted).toHaveLength(IDS.length);
  }
});
