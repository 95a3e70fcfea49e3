// Opens an inbox in a process of its own, on the built package, leaves one event leased, and stays until it is killed.
import { createHash } from "node:crypto";
import { sqliteStore } from "signalbox/stores/sqlite";

const [path, body] = process.argv.slice(2);
const store = sqliteStore(path);
try {
  await store.open({ endpoint: "default" });
  const bytes = Buffer.from(body);
  const event = {
    endpoint: "default",
    eventId: JSON.parse(body).id,
    type: "signal.published",
    state: "leased",
    dueAt: Date.now() + 60_000,
    received: { at: Date.now(), headers: {} },
    bodyHash: createHash("sha256").update(bytes).digest(),
    body: bytes,
    reason: null,
  };
  await store.commit({ settlements: [], accepts: [event], claim: null });
  process.stdout.write("open");
  setInterval(() => store, 60_000); // The store stays reachable: collected as garbage, it would drop its lock.
} catch (error) {
  process.stdout.write(error.code);
}
