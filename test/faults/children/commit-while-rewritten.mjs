// A commit that waits for the file's lock while the sync of an earlier one fails and the file is
// written anew.
import { loadDriver } from "../../../dist/base/sqlite/sqlite-driver.js";
import { openStore } from "./kept-events.mjs";

const files = JSON.parse(process.argv[2]);
const store = await openStore(files);
await store.keep("first");
const failing = store.keep("failing").catch(() => {});
const other = loadDriver().open(files.db);
other.exec("BEGIN IMMEDIATE");
const waiting = store.keep("waiting").catch(() => {});
await failing;
const rewriting = store.keep("rewriting").catch(() => {});
other.exec("ROLLBACK");
other.close();
await Promise.all([waiting, rewriting]);
await store.close();
