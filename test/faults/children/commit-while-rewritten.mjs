// A commit that waits for the file's lock while the sync of an earlier one fails and the file is written anew.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import Database from "better-sqlite3";
import { sqliteStore } from "signalbox/stores/sqlite";

const { db, marks } = JSON.parse(process.argv[2]);
const endpoint = "default";
const store = sqliteStore(db);

async function keep(eventId) {
  const body = Buffer.from(eventId.repeat(2000));
  const bodyHash = createHash("sha256").update(body).digest();
  const at = Date.now();
  const event = { eventId, type: "test", state: "ready", leaseMs: null, received: { at, headers: {} }, bodyHash };
  await store.commit({ endpoint, accepts: [{ ...event, body, reason: null }], settlements: [], claim: null });
  appendFileSync(marks, `acknowledged ${eventId} ${bodyHash.toString("hex")}\n`);
}

await store.open({ endpoint, clock: { now: Date.now } });
await keep("first");
const failing = keep("failing").catch(() => {});
const other = new Database(db);
other.exec("BEGIN IMMEDIATE");
const waiting = keep("waiting").catch(() => {});
await failing;
const rewriting = keep("rewriting").catch(() => {});
other.exec("ROLLBACK");
other.close();
await Promise.all([waiting, rewriting]);
await store.close(endpoint);
