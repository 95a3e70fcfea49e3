import { createEmulator } from "signalbox/emulator";
import { percentile } from "../statistics.js";
import { measureStart } from "./measure-start.js";
import { openLoop } from "./open-loop.js";
import { randomQueries } from "./random-queries.js";

// The service's own rate limit holds for each key: 120 requests in 60 seconds.
const REQUESTS_PER_SECOND = 50;
const SECONDS = 20;
const KEYS = Math.ceil((REQUESTS_PER_SECOND * 60) / 120) + 5;

/** How long people wait for the emulator: until it is ready, and for its two research operations under load. */
const start = await measureStart();
const emulator = createEmulator({ port: 0, seed: 1 });
await emulator.start();
try {
  const { account_id } = await emulator.control.createAccount({ tier: "pro" });
  const keys: string[] = [];
  for (let made = 0; made < KEYS; made++) keys.push((await emulator.control.createKey({ account_id })).key);
  const { baseUrl } = emulator;
  const sectors = await readSectors(baseUrl, keys[0] ?? "");
  const rows = [];
  for (const operation of ["rankings", "search-demand"] as const) {
    const queries = randomQueries(operation, sectors, REQUESTS_PER_SECOND * SECONDS);
    const requests = queries.map((query, index) => ({
      url: `${baseUrl}/research/${operation}?${query}`,
      headers: { Authorization: `Bearer ${keys[index % keys.length] ?? ""}` },
    }));
    const { latenciesMs, statuses } = await openLoop(requests, REQUESTS_PER_SECOND);
    const sorted = latenciesMs.toSorted((a, b) => a - b);
    const at = (percent: number): string => percentile(sorted, percent).toFixed(1);
    rows.push({ operation, requests: sorted.length, statuses, "p50 ms": at(50), "p99 ms": at(99), "max ms": at(100) });
  }
  process.stdout.write(`${JSON.stringify({ start, research: rows }, null, 2)}\n`);
} finally {
  await emulator.close();
}

async function readSectors(baseUrl: string, key: string): Promise<string[]> {
  const answer = await fetch(`${baseUrl}/research/search-demand?limit=1`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { markets } = (await answer.json()) as { markets: { slug: string }[] };
  return markets.map(({ slug }) => slug);
}
