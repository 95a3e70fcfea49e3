import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BenchResult } from "../bench/run-parts.js";
import { SERVERS } from "../bench/servers/catalogue.js";
import { drawBars } from "./pictures/draw-bars.js";
import { drawLanes } from "./pictures/draw-lanes.js";

// `npm run pictures` writes the files anew.
const PICTURES = "../../docs/pictures";
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the picture of a delivery is drawn from its text", async () => {
  const picture = drawLanes(read("pictures/delivery.txt"), "The way of a delivery");
  await expect(picture).toMatchFileSnapshot(`${PICTURES}/delivery.svg`);
});

test("the chart of requests is drawn from the kept result of the bench", async () => {
  const { throughput } = JSON.parse(read("../bench/result.json")) as BenchResult;
  const bars = SERVERS.filter(({ name }) => name.includes("express") && name !== "signalbox-express4").map((server) => {
    const row = throughput?.rows.find((each) => each.server === server.name);
    if (row === undefined) throw new Error(`the result lacks ${server.name}`);
    const { median } = row.requestsPerSecond;
    const text = `${Math.round(median).toLocaleString("en-US")}${server.keeps === null ? "" : ", each on disk"}`;
    return { label: server.label, value: median, text, isOurs: server.isOurs };
  });
  const note = `Medians of ${throughput?.rounds} rounds, 64 connections, signed bodies of 700 bytes, ${throughput?.machine.cores} cores.`;
  await expect(drawBars("Deliveries per second", bars, note)).toMatchFileSnapshot(`${PICTURES}/throughput.svg`);
});

test("the chart of PostgreSQL is drawn from the kept result of the bench", async () => {
  const { postgres } = JSON.parse(read("../bench/result.json")) as BenchResult;
  if (postgres === undefined) throw new Error("the result lacks the part postgres");
  const bars = postgres.lifeCycles.map(({ label, isOurs, eventsPerSecond: { median } }) => {
    return { label, value: median, text: Math.round(median).toLocaleString("en-US"), isOurs };
  });
  const note = `Medians of ${postgres.rounds} rounds, PostgreSQL ${postgres.version}, every commit on disk, ${postgres.machine.cores} cores.`;
  const chart = drawBars("Events per second, stored and marked as done", bars, note);
  await expect(chart).toMatchFileSnapshot(`${PICTURES}/postgres.svg`);
});
