import type { Emulator } from "../../src/service/emulator/instance/create-emulator.js";
import { askAt, type Asked, type Told } from "./start-emulator.js";

/** The result of a tool's call, with the HTTP answer that it came in. */
export interface ToolAnswer extends Omit<Told, "body"> {
  result: {
    content: { type: string; text: string }[];
    structuredContent?: object;
    isError?: boolean;
  };
  /** The error of a refused call, which stands in the text. */
  error: { code: string; message: string; details?: unknown } | null;
}

/** Sends a message of JSON-RPC to the remote MCP. */
export function sendMessage(emulator: Emulator, message: object, how: Asked = {}): Promise<Told> {
  return askAt(() => emulator.mcpUrl)("", { ...how, body: { jsonrpc: "2.0", ...message } });
}

/** Calls a tool as the service's document shows it: without a handshake. */
export async function callTool(
  emulator: Emulator,
  key: string,
  name: string,
  given?: object,
): Promise<ToolAnswer> {
  const params = { name, ...(given !== undefined && { arguments: given }) };
  const told = await sendMessage(emulator, { id: 1, method: "tools/call", params }, { key });
  const result = told.body["result"] as ToolAnswer["result"] | undefined;
  if (result === undefined) throw new Error(`the call has no result: ${told.status} ${told.text}`);
  const { error } = JSON.parse(result.content[0]?.text ?? "") as Pick<ToolAnswer, "error">;
  return { ...told, result, error: result.isError === true ? error : null };
}
