import { expect, test } from "vitest";
import { SIGNAL_TYPES } from "../../src/events/signal-types.js";
import { listen } from "../cli/serve-requests.js";
import { startEmulator, type RunningEmulator } from "./start-emulator.js";

const MOST_MONTHS = 8;
const TYPES_OF_A_REGISTRATION = 30;

/** Answers the handshake, and notes the types of the signals that come. */
function serveNotes(arrived: Set<string>): Promise<string> {
  return listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: Record<string, string> };
      if (data["signal_type"] !== undefined) arrived.add(data["signal_type"]);
      response.end(JSON.stringify({ challenge: data["challenge"] }));
    });
  });
}

/** All products that the rankings show now. */
async function rankedSlugs({ ask }: RunningEmulator, key: string): Promise<string[]> {
  const slugs: string[] = [];
  for (let page = 1; ; page++) {
    const { body } = await ask(`/research/rankings?limit=50&page=${page}`, { key });
    slugs.push(...(body["items"] as { slug: string }[]).map(({ slug }) => slug));
    if (!(body["pagination"] as { has_more: boolean }).has_more) return slugs;
  }
}

test("each of the 38 types arrives, within some months, at who follows what was ranked a month earlier", async () => {
  const running = await startEmulator({ assumptions: { allowLoopbackHttp: true } });
  const { control } = running.emulator;
  const { accountId, key } = await running.account("pro");
  const arrived = new Set<string>();
  const url = await serveNotes(arrived);
  for (let from = 0; from < SIGNAL_TYPES.length; from += TYPES_OF_A_REGISTRATION) {
    const signal_types = SIGNAL_TYPES.slice(from, from + TYPES_OF_A_REGISTRATION);
    await running.ask("/alerts/webhooks", { key, body: { url, signal_types } });
  }
  for (let month = 0; month < MOST_MONTHS && arrived.size < SIGNAL_TYPES.length; month++) {
    await control.follow({ account_id: accountId, slugs: await rankedSlugs(running, key) });
    await control.advance({ months: 1 });
  }
  expect(SIGNAL_TYPES.filter((type) => !arrived.has(type))).toEqual([]);
});
