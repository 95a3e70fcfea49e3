import { expect, test } from "vitest";
import { readDocument } from "../repo/markdown.js";
import {
  demandPage,
  failedTask,
  profile,
  quotaHeaders,
  rankingsPage,
  refusal,
  registration,
  task,
} from "../unit/service/client/answers.js";
import { serve, type Answer, type SeenRequest } from "../unit/service/client/serve-answers.js";
import { install } from "./installed.js";
import { runModule } from "./processes.js";

const block = (holding: string): string => readDocument("docs/client.md").block(holding).code;

const CREATE = `import { createClient } from "signalbox/client";
const client = createClient({ baseUrl: process.env.SIGNALS_BASE_URL, apiKey: process.env.SIGNALS_API_KEY });
`;

/**
 * Runs a module on the packed package to its own end, and gives what it printed and what the
 * service saw.
 */
async function run(code: string, answerOf: (request: SeenRequest, index: number) => Answer) {
  const { baseUrl, seen } = await serve((index, request) => answerOf(request, index));
  const env = { SIGNALS_BASE_URL: baseUrl, SIGNALS_API_KEY: "key_1234" };
  const PUBLIC_URL = "https://app.example/signals";
  const printed = await runModule(install(), code, { ...env, PUBLIC_URL });
  return { lines: printed.trim().split("\n"), seen };
}

test("the page's first example reads a profile and every ranked product", async () => {
  const { lines, seen } = await run(block("createClient({"), ({ path }) => {
    if (path.startsWith("/v1/tools/juniper-grid")) return { json: profile };
    const page = Number(new URL(path, "http://localhost").searchParams.get("page"));
    return { json: rankingsPage(page, page < 2) };
  });
  expect(lines).toEqual(["Larkvoice freemium", "1 Product 1 1", "2 Product 2 1"]);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill("Bearer key_1234"),
  );
});

test("the page's example of an investigation tells its progress and how it ended", async () => {
  const code = `${CREATE}${block("client.startInvestigation(")}`;
  const soon = { poll_after_seconds: 1 };
  const { lines, seen } = await run(code, ({ method }, index) => {
    if (method === "POST") return { status: 202, json: task(soon) };
    return {
      json:
        index === 1 ? task({ ...soon, status: "running", stage: "investigating" }) : failedTask(),
    };
  });
  expect(lines).toEqual([
    "queued queued",
    "running investigating",
    "failed complete",
    "No source answered.",
  ]);
  expect(seen).toHaveLength(3);
});

test("the page's example of a registration gets its secret", async () => {
  const code = `${CREATE}${block("client.registerWebhook(")}\nconsole.log(id, signing_secret);`;
  const { lines, seen } = await run(code, () => ({ status: 201, json: registration }));
  expect(lines).toEqual([`${registration.id} whsec_shown_once`]);
  expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ url: "https://app.example/signals" });
});

test("the page's example of a failed call tells a quota from all else", async () => {
  const code = `${CREATE}${block("isClientError(error)")}`;
  const headers = quotaHeaders("2999-12-01T00:00:00Z");
  const quota = await run(code, () => refusal(429, "PRO_API_QUOTA_EXHAUSTED", { headers }));
  expect(quota.lines).toEqual(["no calls left until 2999-12-01T00:00:00.000Z"]);
  const refused = await run(code, () => refusal(403, "SCOPE_INSUFFICIENT"));
  expect(refused.lines[0]).toMatch(/^http 403 SCOPE_INSUFFICIENT req_17 searchDemand was refused/);
  const found = await run(code, () => ({ json: demandPage(1, false) }));
  expect(found.lines).toEqual(["[ 'keyword 1' ]"]);
});
