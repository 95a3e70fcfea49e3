import type { Tier } from "../../src/service/contract/access.js";
import { openApiDocument } from "../../src/service/contract/openapi/openapi-document.js";
import type { Emulator } from "../../src/service/emulator/instance/create-emulator.js";
import { startEmulator } from "../emulator/start-emulator.js";
import { createDocumentValidator } from "../unit/service/contract/document-validator.js";

/** What a call was answered, already held against the OpenAPI document. */
export interface CheckedAnswer {
  status: number;
  body: unknown;
  /** Of an error. */
  code: string | undefined;
}

/** What is sent. */
export interface SentCall {
  method?: "GET" | "POST";
  /** Below the base address. */
  path: string;
  /** A value to be sent as JSON, or a text to be sent as it is. */
  body?: unknown;
  key?: string;
}

/**
 * An emulator whose time stands still, and whose every answer is held against the document that it
 * serves.
 */
export interface CheckedEmulator {
  emulator: Emulator;
  /** Sends a call of an operation. @throws when the answer is not of the document */
  call: (operationId: string, sent: SentCall) => Promise<CheckedAnswer>;
  /** A key of a new account. Its minute has room for 120 calls. */
  newKey: (tier: Tier) => Promise<string>;
  /**
   * What calls of the API can change: accounts with their use of the quota, registrations,
   * investigations.
   */
  stored: () => Promise<string>;
}

export async function serveEmulator(): Promise<CheckedEmulator> {
  // Endpoints are on this machine, where nothing listens: no test sends anything elsewhere.
  const { emulator } = await startEmulator({ assumptions: { allowLoopbackHttp: true } });
  const document = openApiDocument();
  const { answerFaults, statusesOf } = createDocumentValidator(document);

  return {
    emulator,
    async call(operationId, { method = "GET", path, body, key }) {
      const response = await fetch(`${emulator.baseUrl}${path}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const shown = `${method} ${path} ${JSON.stringify(body) ?? ""}: ${response.status} ${text.slice(0, 500)}`;
      if (!statusesOf(operationId).includes(response.status))
        throw new Error(`a status of no document: ${shown}`);
      const answer = JSON.parse(text) as { error?: { code: string } };
      const faults = answerFaults(operationId, response.status, answer);
      if (faults.length > 0) throw new Error(`${faults.slice(0, 5).join("; ")} in ${shown}`);
      return {
        status: response.status,
        body: answer,
        code: response.ok ? undefined : answer.error?.code,
      };
    },
    async newKey(tier) {
      const { account_id } = await emulator.control.createAccount({ tier });
      const { key } = await emulator.control.createKey({ account_id });
      return key;
    },
    async stored() {
      const { control } = emulator;
      const lists = [
        control.listAccounts(),
        control.listRegistrations({}),
        control.listInvestigations({}),
      ];
      return JSON.stringify(await Promise.all<object>(lists));
    },
  };
}
