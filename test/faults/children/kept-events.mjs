import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { sqliteStore } from "signalbox/stores/sqlite";

const endpoint = "default";

/** An open store without a receiver, into which a child commits what it wants when it wants. */
export async function openStore({ db, marks, bytes = 12_000 }) {
  const store = sqliteStore(db);
  await store.open({ endpoint, clock: { now: Date.now } });
  return {
    /** One commit. Rejects when it fails; otherwise its events are noted as acknowledged. */
    async keep(...eventIds) {
      const accepts = eventIds.map((eventId) => {
        const body = Buffer.alloc(bytes, eventId);
        const bodyHash = createHash("sha256").update(body).digest();
        const received = { at: Date.now(), headers: {} };
        return {
          eventId,
          type: "test",
          state: "ready",
          leaseMs: null,
          received,
          bodyHash,
          body,
          reason: null,
        };
      });
      await store.commit({ endpoint, accepts, settlements: [], claim: null });
      const marked = accepts.map(
        (event) => `acknowledged ${event.eventId} ${event.bodyHash.toString("hex")}\n`,
      );
      appendFileSync(marks, marked.join(""));
    },
    close: () => store.close(endpoint),
  };
}
