import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/kit/inbox/batch.js";
import { MIGRATIONS } from "../../../src/kit/stores/sqlite/tables.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { openSqlite } from "../../open-sqlite.js";
import { newEvent, opened, T0 } from "../../unit/kit/inbox/new-event.js";
import { startRig } from "../../unit/kit/inbox/receiver-rig.js";
import { tempFolder } from "../../unit/temp-folder.js";

const ANN = "ann-private-7f3a";

/** In a process of its own, so that no lock of this one is dropped. @returns the files with the text */
function filesWith(folder: string, text: string): string {
  return spawnSync("grep", ["-rlaiF", text, folder], { encoding: "utf8" }).stdout;
}

const about = (slug: string, more = "") =>
  signalEvent({ data: { product: { slug }, title: `of ${slug}`, summary: `${slug} ${more}` } });

test("what is erased while a receiver works under load is in no file, and nothing else is lost", async () => {
  const path = join(tempFolder(), "inbox.db");
  let calls = 0;
  const rig = await startRig({
    store: sqliteStore(path),
    order: true,
    onSignal: async ({ data }) => {
      calls += 1;
      if (calls % 3 === 0)
        throw new Error(`no room for ${data.product.slug} ${"…".repeat(calls % 900)}`);
    },
  });
  const events = Array.from({ length: 3000 }, (_, index) =>
    about(index % 10 === 0 ? ANN : `other-${index % 40}`, "x".repeat(index % 1500)),
  );
  const deliver = async (some: typeof events) => {
    for (const { status } of await Promise.all(some.map(rig.deliver))) expect(status).toBe(200);
  };
  const ofAnn = ({ data }: (typeof events)[number]) =>
    (data["product"] as { slug: string }).slug === ANN;
  for (let from = 0; from < 2000; from += 100) await deliver(events.slice(from, from + 100));
  const others = events.slice(2000).filter((event) => !ofAnn(event));
  let isOver = false;
  const load = (async () => {
    while (!isOver && others.length > 0) await deliver(others.splice(0, 50));
  })();
  const { erased, ...rest } = await rig.receiver.inbox.erase({ subject: ANN });
  const found = filesWith(dirname(path), ANN);
  isOver = true;
  await load;
  expect(erased).toBe(200);
  // What moved rows left behind is found, and said.
  if (rest.files === "clean") expect(found).toBe("");
  else expect(rest.why).toMatch(/vacuum/);
  await deliver(others);

  const lost = events.filter((event, index) => !(ofAnn(event) && index >= 2000));
  for (const event of lost) {
    const stored = await rig.receiver.inbox.get(event.id);
    expect(stored?.rawBody === null).toBe(ofAnn(event));
  }
  expect(JSON.stringify(await rig.receiver.inbox.failures())).not.toContain(ANN);
  for (const event of events.slice(0, 2000).filter(ofAnn))
    expect((await rig.deliver(event)).body).toContain("duplicate");
  expect((await rig.receiver.inbox.erase({ containing: ANN })).erased).toBe(0);
  await rig.receiver.close();

  const tool = await opened(sqliteStore({ path, operator: true }));
  await tool.vacuum?.();
  expect(await tool.wipe("default", ANN)).toBe(null);
  await tool.close("default");
  expect(filesWith(dirname(path), ANN)).toBe("");
}, 60_000);
