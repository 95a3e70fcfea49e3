// Opens and closes the inbox on orders, so that several processes can do it at the same moment. An
// order is a line of JSON on stdin ({ path, shared } to open, {} to close); the answer is one line:
// "open", "closed", or the code of the error.
import { createInterface } from "node:readline";
import { sqliteStore } from "signalbox/stores/sqlite";

const endpoint = "default";
let store = null;

async function obey({ path, shared }) {
  if (path === undefined) {
    await store?.close(endpoint);
    return "closed";
  }
  const wanted = sqliteStore({ path, shared });
  try {
    await wanted.open({ endpoint, clock: { now: Date.now } });
  } catch (error) {
    return error.code;
  }
  store = wanted;
  return "open";
}

console.log("ready");
for await (const line of createInterface(process.stdin)) console.log(await obey(JSON.parse(line)));
