// One of two syncs at the same time fails, and the store is closed with nothing written in between.
// Each commit writes to many pages that no other commit in the WAL has written to.
import { createHash } from "node:crypto";
import { openStore } from "./kept-events.mjs";

const { from, to, ...files } = JSON.parse(process.argv[2]);
const store = await openStore({ ...files, bytes: 600 });
const numbers = Array.from({ length: to - from }, (_, index) => from + index);
const idOf = (number) => createHash("md5").update(`${number}`).digest("hex");
const half = Math.ceil(numbers.length / 2);
await Promise.allSettled(
  [numbers.slice(0, half), numbers.slice(half)].map((part) => store.keep(...part.map(idOf))),
);
await store.close();
