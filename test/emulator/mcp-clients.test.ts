import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import type { InvestigationTask } from "../../src/service/contract/investigation.js";
import type { RankingsResponse } from "../../src/service/contract/rankings.js";
import type { SearchDemandResponse } from "../../src/service/contract/search-demand.js";
import { startEmulator } from "./start-emulator.js";

const INFO = { name: "test", version: "1" };

/** What both lines of the SDK's client have in common. */
interface ToolClient {
  close(): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}

type Connect = (
  url: URL,
  requestInit: RequestInit,
) => Promise<{ client: ToolClient; isConnected: () => boolean }>;

/** A client of the current line, in an era of the protocol. */
const connectCurrent =
  (mode: "legacy" | { pin: string }, version: string): Connect =>
  async (url, requestInit) => {
    const client = new Client(INFO, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return { client, isConnected: () => client.getNegotiatedProtocolVersion() === version };
  };

const connectFirstLine: Connect = async (url, requestInit) => {
  const client = new Client1(INFO);
  const transport = new Transport1(url, { requestInit });
  await client.connect(transport);
  return { client, isConnected: () => transport.protocolVersion === "2025-11-25" };
};

test.each<[who: string, connect: Connect]>([
  ["The SDK's client, without a handshake", connectCurrent({ pin: "2026-07-28" }, "2026-07-28")],
  ["The SDK's client, with a handshake", connectCurrent("legacy", "2025-11-25")],
  ["The SDK's client of the 1.x line", connectFirstLine],
])(
  "%s calls all four tools, and polls an investigation until its report is there [limits/polling-interval]",
  async (_who, connect) => {
    const { emulator, account } = await startEmulator();
    const { key } = await account("pro");
    const { client, isConnected } = await connect(new URL(emulator.mcpUrl), {
      headers: { Authorization: `Bearer ${key}` },
    });
    onTestFinished(() => client.close());
    expect(isConnected()).toBe(true);
    // From here on the client checks each result with the tool's output schema.
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "start_promotion_investigation",
      "get_promotion_investigation",
      "search_ai_demand",
      "rank_ai_products",
    ]);
    const call = async <Payload>(
      name: string,
      given: Record<string, unknown>,
    ): Promise<Payload> => {
      const result = await client.callTool({ name, arguments: given });
      expect(result).not.toHaveProperty("isError");
      return (result as { structuredContent: Payload }).structuredContent;
    };

    const { items } = await call<RankingsResponse>("rank_ai_products", { sort: "ai", limit: 3 });
    expect(items.map(({ rank }) => rank)).toEqual([1, 2, 3]);
    const { keyword } = await call<SearchDemandResponse>("search_ai_demand", {
      keyword_id: 1,
      type: "all",
    });
    expect(keyword?.keyword_id).toBe(1);

    const start = { slug: items[0]?.slug, idempotency_key: randomUUID(), confirm_usage: true };
    let task = await call<InvestigationTask>("start_promotion_investigation", start);
    const stages = [task.stage];
    while (task.poll_after_seconds !== null) {
      expect(task.poll_after_seconds).toBe(60);
      await emulator.control.advance({ seconds: task.poll_after_seconds });
      task = await call<InvestigationTask>("get_promotion_investigation", {
        task_id: task.task_id,
      });
      stages.push(task.stage);
    }
    expect([...new Set(stages)]).toEqual([
      "queued",
      "investigating",
      "generating_report",
      "complete",
    ]);
    expect(task.report?.analysis.overview).toContain(items[0]?.name);

    const refused = await client.callTool({ name: "rank_ai_products", arguments: { limit: 51 } });
    const text = expect.stringContaining('"code":"INVALID_PARAMETERS"');
    const structuredContent = { error: { code: "INVALID_PARAMETERS" } };
    expect(refused).toMatchObject({
      isError: true,
      content: [{ type: "text", text }],
      structuredContent,
    });
  },
);
