import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { format, resolveConfig } from "prettier";
import { expect } from "vitest";
import { verifySignature } from "../../src/kit/senders/signature/verify.js";
import { createClient, isClientError, type Client } from "../../src/service/client/index.js";
import type { Tier } from "../../src/service/contract/access.js";
import { MCP_TOOLS } from "../../src/service/contract/mcp-tools.js";
import {
  OPERATIONS,
  type Operation,
  type OperationName,
} from "../../src/service/contract/operations.js";
import type { EmulatorOptions } from "../../src/service/emulator/instance/options.js";
import { listen } from "../cli/serve-requests.js";
import { sendMessage, type ToolAnswer } from "./call-tool.js";
import { askAt, startEmulator, type RunningEmulator } from "./start-emulator.js";

type Json = Record<string, unknown>;

/** What a step got. In a file these are the fields that `--update` writes. */
interface Answered {
  /** Left out if it is the usual one. */
  status?: number | undefined;
  /** The headers about quota, rate and key, if there are any. */
  headers?: Record<string, string> | undefined;
  answer?: unknown;
}

/** One step of a transcript. It has one of the fields `call` to `events`. */
interface Step extends Answered {
  why?: string;
  /** An operation of the service. */
  call?: OperationName;
  /** An operation of the control API. */
  control?: string;
  /**
   * A request that no client sends, such as `GET /nothing` below the REST API, or `POST /mcp`; over
   * HTTP alone.
   */
  request?: string;
  /** The headers of `request`, besides the usual ones. */
  with?: Record<string, string>;
  /** How often it is asked. The last answer counts. */
  times?: number;
  /**
   * How the endpoint `http://ENDPOINT` answers from now on, all but right verifications. In the
   * body, `{challenge}` stands for the received one.
   */
  endpoint?: { status?: number; headers?: Record<string, string>; body?: string };
  /** What came to the endpoint since the last such step. */
  received?: unknown;
  /** The events of `onEvent` since the last such step. */
  events?: unknown;
  /** An account of the transcript, or a token; nobody if it is missing. */
  as?: string;
  /** A text is the body of `request` as it is. */
  given?: Json | string;
  /** The parts of the answer that count, such as `items.*.slug`; without it, all of it. */
  pick?: string[];
}

interface Transcript {
  about: string;
  /** What it shows of the service's document. */
  rules: string[];
  options?: EmulatorOptions;
  accounts: Record<string, { tier: Tier; scopes?: never[]; entitlements?: never[] }>;
  steps: Step[];
}

/** The ways to the operations. What one of them does not have goes over HTTP. */
export const DOORS = ["http", "client", "mcp"] as const;
export type Door = (typeof DOORS)[number];

/** What differs between two runs, and the word for it. Each value gets a number. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/(?<!req_)[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g, "UUID"],
  [/(?<=whsec_)[\w-]{43}/g, "SECRET"],
  [/(?<=sb[ks]_)[\w-]{43}/g, "TOKEN"],
  [/(?<="challenge":")[\w-]{32}(?=")/g, "CHALLENGE"],
];
const SAME: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/127\.0\.0\.1:\d+\/webhooks\/signals/g, "http://ENDPOINT"],
  [/"hint":"sbk_[\w-]{6}"/g, '"hint":"sbk_"'],
  [/req_[\da-f-]{36}/g, "req_"],
  [/"duration_ms":[\d.]+/g, '"duration_ms":0'],
];

function createMasks(endpoint: string) {
  const words = new Map<string, string>();
  const counts = new Map<string, number>();
  const wordOf = (value: string, kind: string): string => {
    const number = (counts.get(kind) ?? 0) + (words.has(value) ? 0 : 1);
    if (!words.has(value)) {
      counts.set(kind, number);
      words.set(value, `${kind}-${number}`);
    }
    return words.get(value) ?? "";
  };
  return {
    /** Values by their words. */
    known: (kind: string) => [...words].filter(([, word]) => word.startsWith(kind)),
    mask<Value>(value: Value): Value {
      if (value === undefined) return value;
      const text = MASKS.reduce(
        (left, [what, kind]) => left.replace(what, (found) => wordOf(found, kind)),
        SAME.reduce((left, [what, word]) => left.replace(what, word), JSON.stringify(value)),
      );
      return JSON.parse(text) as Value;
    },
    unmask<Value>(value: Value): Value {
      const text = [...words].reduce(
        (left, [actual, word]) => left.replace(new RegExp(`${word}(?!\\d)`, "g"), actual),
        JSON.stringify(value).replaceAll("http://ENDPOINT", endpoint),
      );
      return JSON.parse(text) as Value;
    },
  };
}

function picked(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (name === "*") return (value as unknown[]).map((each) => picked(each, rest));
  if (name === "length") return (value as unknown[]).length;
  return picked((value as Json | null | undefined)?.[name], rest);
}

const HEADERS = /^(x-quota-.*|retry-after|www-authenticate|allow)$/;
const shownHeaders = (headers: Headers): Record<string, string> | undefined => {
  const shown = [...headers].filter(([name]) => HEADERS.test(name));
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
};

/** The body of an answer, without the id of the request. */
const withoutId = ({ request_id: _id, ...body }: Json): Json => body;

const queryOf = (given: Json): string =>
  new URLSearchParams(
    Object.entries(given).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString();

/** Calls an operation over HTTP as the contract says. */
function restCall(name: OperationName, given: Json): { path: string; body?: Json } {
  const { path, body }: Operation = OPERATIONS[name];
  const rest = { ...given };
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const { [key]: value } = rest;
    delete rest[key];
    return encodeURIComponent(String(value));
  });
  if (body !== undefined) return { path: filled, body: rest };
  const query = queryOf(rest);
  return { path: query === "" ? filled : `${filled}?${query}` };
}

/** The same call by the typed client. */
function clientCall(client: Client, name: OperationName, given: Json): Promise<object> {
  const { idempotency_key: idempotencyKey, confirm_usage: confirmUsage, ...rest } = given;
  const calls: Record<OperationName, () => Promise<object>> = {
    startInvestigation: () =>
      client.startInvestigation({ ...rest, idempotencyKey, confirmUsage } as never),
    readInvestigation: () => client.readInvestigation(given["task_id"] as string),
    registerWebhook: () => client.registerWebhook(given as never),
    productProfile: () => {
      const { slug, ...options } = given;
      return client.productProfile(slug as string, options);
    },
    searchDemand: () => client.searchDemand(given),
    rankings: () => client.rankings(given),
  };
  return calls[name]();
}

const TOOLS = new Map<OperationName, string>(
  Object.entries(MCP_TOOLS).map(([tool, { operation }]) => [operation, tool]),
);

/**
 * Plays the steps of a transcript against an emulator of its own.
 *
 * @returns the transcript with what the steps got
 */
export async function playTranscript(transcript: Transcript, door: Door): Promise<Transcript> {
  const signals: { path: string; header: string; body: Buffer }[] = [];
  let endpoint: NonNullable<Step["endpoint"]> = {};
  const url = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answerDelivery(request, Buffer.concat(chunks), response));
  });
  function answerDelivery(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { type, data } = JSON.parse(body.toString()) as {
      type: string;
      data: { challenge: string };
    };
    const path = String(request.url).replace("/webhooks/signals", "");
    signals.push({ path, header: String(request.headers["x-service-signature"]), body });
    const { status = 200, headers = {}, body: answer = "" } = endpoint;
    const isRight = type === "webhook.verification" && status === 200;
    response.writeHead(status, headers);
    const shown = answer.replace("{challenge}", data.challenge);
    response.end(isRight ? JSON.stringify({ challenge: data.challenge }) : shown);
  }
  const masks = createMasks(url);
  const events: unknown[] = [];
  const running = await startEmulator({
    ...transcript.options,
    onEvent: (event) => void events.push(event),
  });
  const keys = new Map<string, string>();
  for (const [name, { tier, ...more }] of Object.entries(transcript.accounts))
    keys.set(name, (await running.account(tier, more)).key);

  async function take(step: Step): Promise<Answered> {
    const given = masks.unmask(step.given ?? {}) as Json;
    const key = step.as === undefined ? undefined : (keys.get(step.as) ?? masks.unmask(step.as));
    if (step.call !== undefined) return callOperation(running, door, step.call, given, key);
    if (step.control !== undefined) return callControl(running, door, step.control, given);
    const [method = "", path = ""] = masks.unmask(step.request ?? "").split(" ");
    const { emulator } = running;
    const isBeside = /^\/(_emulator|mcp)/.test(path);
    const ask = askAt(() => (isBeside ? emulator.url : emulator.baseUrl));
    const told = await ask(path, {
      method,
      headers: step.with ?? {},
      ...(key !== undefined && { key }),
      ...(step.given !== undefined && { body: given }),
    });
    const { status, headers, body } = told;
    return { status, headers: shownHeaders(headers), answer: withoutId(body) };
  }

  function received(): unknown[] {
    const all = signals.splice(0).map(({ path, header, body }) => {
      const event = masks.mask(JSON.parse(body.toString()) as Json);
      const seconds = Number(/^t=(\d+)/.exec(header)?.[1]);
      const isSignedBy = (secret: string): boolean =>
        verifySignature({ header, body, secrets: [`whsec_${secret}`], now: seconds * 1000 }).ok;
      const signed_by = masks.known("SECRET").find(([secret]) => isSignedBy(secret))?.[1] ?? null;
      return { path, signed_by, signed_at: new Date(seconds * 1000).toISOString(), event };
    });
    const orderOf = (each: (typeof all)[number]): string => JSON.stringify(each);
    return all.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  }

  const steps: Step[] = [];
  for (const step of transcript.steps) {
    if (step.endpoint !== undefined) {
      ({ endpoint } = step);
      steps.push(step);
    } else if ("received" in step || "events" in step) {
      await running.emulator.control.settle();
      const name = "received" in step ? "received" : "events";
      const all = name === "received" ? received() : masks.mask(events.splice(0));
      const { pick } = step;
      const shown =
        pick === undefined
          ? all
          : all.map((each) => pick.map((path) => picked(each, path.split("."))));
      steps.push({ ...step, [name]: shown });
    } else {
      for (let time = 1; time < (step.times ?? 1); time++) await take(step);
      const { status, headers, answer } = await take(step);
      const masked = masks.mask(answer);
      const shown =
        step.pick === undefined ||
        (masked !== undefined && "error" in (masked as Json) && status !== 200)
          ? masked
          : Object.fromEntries(step.pick.map((path) => [path, picked(masked, path.split("."))]));
      const { status: _status, headers: _headers, answer: _answer, ...asked } = step;
      const isUsual = status === undefined || (step.control !== undefined && status === 200);
      steps.push({
        ...asked,
        ...(!isUsual && { status }),
        ...(headers !== undefined && { headers }),
        answer: shown,
      });
    }
  }
  return { ...transcript, steps };
}

async function callOperation(
  { ask, emulator }: RunningEmulator,
  door: Door,
  name: OperationName,
  given: Json,
  key: string | undefined,
): Promise<Answered> {
  const { scope, response, acceptsSession } = OPERATIONS[name] as Operation;
  const tool = TOOLS.get(name);
  const { path, body } = restCall(name, given);
  // The remote MCP takes keys alone.
  if (door === "mcp" && tool !== undefined && key?.startsWith("sbk_") === true) {
    const params = { name: tool, arguments: given };
    const told = await sendMessage(emulator, { id: 1, method: "tools/call", params }, { key });
    const headers = shownHeaders(told.headers);
    const result = told.body["result"] as ToolAnswer["result"] | undefined;
    if (result === undefined) return { status: told.status, headers, answer: withoutId(told.body) };
    const text = JSON.stringify(result.structuredContent);
    expect(result.content).toEqual([{ type: "text", text }]);
    const status = result.isError === true ? undefined : response.status;
    return { status, headers, answer: withoutId(result.structuredContent as Json) };
  }
  const asRest = async (): Promise<Answered> => {
    const told = await ask(path, { ...(key !== undefined && { key }), ...(body && { body }) });
    const { status, headers } = told;
    return { status, headers: shownHeaders(headers), answer: withoutId(told.body) };
  };
  if (door !== "client") return asRest();
  const client = createClient({
    baseUrl: emulator.baseUrl,
    apiKey: key,
    retry: { maxAttempts: 1, maxWaitMs: 0 },
  });
  try {
    return { status: response.status, answer: await clientCall(client, name, given) };
  } catch (error) {
    if (!isClientError(error)) throw error;
    const { kind, status, code, details, message } = error;
    // The client refuses itself what the service would refuse with 400, and a call without a key.
    if (kind === "invalid_request") return { status: 400 };
    if (kind === "api_key" && scope !== null) return { status: 401 };
    expect(acceptsSession || kind !== "invalid_answer").toBe(true);
    return { status: status ?? undefined, answer: { error: { code, message, details } } };
  }
}

interface Listed {
  name: string;
  method: string;
  path: string;
}

/** Over HTTP at the door of that name; else by its method. */
async function callControl(
  { emulator }: RunningEmulator,
  door: Door,
  name: string,
  given: Json,
): Promise<Answered> {
  if (door !== "http") {
    const method = Reflect.get(emulator.control, name) as (input: Json) => Promise<object>;
    try {
      return { status: 200, answer: await method(given) };
    } catch (error) {
      const { status, code, message, details } = error as Json;
      return { status: status as number, answer: { error: { code, message, details } } };
    }
  }
  const control = askAt(() => `${emulator.url}/_emulator`);
  const { operations } = (await control("")).body as { operations: Listed[] };
  const found = operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no control operation ${name}`);
  const rest = { ...given };
  const path = found.path.replace("/_emulator", "").replace(/\{(\w+)\}/g, (_, key: string) => {
    const { [key]: value } = rest;
    delete rest[key];
    return encodeURIComponent(String(value));
  });
  const query = queryOf(rest);
  const isRead = found.method === "GET";
  const told = await control(isRead && query !== "" ? `${path}?${query}` : path, {
    method: found.method,
    ...(!isRead && { body: rest }),
  });
  return { status: told.status, answer: withoutId(told.body) };
}

export const readTranscript = (file: string): Transcript =>
  JSON.parse(readFileSync(file, "utf8")) as Transcript;

/** A transcript as its file has it. */
export async function transcriptText(transcript: Transcript, file: string): Promise<string> {
  return format(JSON.stringify(transcript), { ...(await resolveConfig(file)), parser: "json" });
}

/**
 * Holds what the steps got at another door against what they got over HTTP.
 *
 * @param isWhole whether the door shows all of an answer: the client has the error in parts
 */
export function expectSame(steps: readonly Step[], overHttp: readonly Step[], door: Door): void {
  for (const [index, { status, headers, answer, ...step }] of steps.entries()) {
    const expected = overHttp[index] ?? {};
    const shown = `step ${index + 1}: ${JSON.stringify(step).slice(0, 200)}`;
    if (step.call === undefined || door === "mcp" || (status ?? 200) < 300) {
      expect({ ...step, answer }, shown).toEqual({
        ...Object.fromEntries(
          Object.entries(expected).filter(([name]) => name !== "status" && name !== "headers"),
        ),
        answer: expected.answer,
      });
      if (door === "mcp" && status !== undefined) expect(headers, shown).toEqual(expected.headers);
      continue;
    }
    expect(status, shown).toBe(expected.status);
    if (answer === undefined) continue;
    const { error } = answer as { error: { code: string; message: string; details?: unknown } };
    const service = (expected.answer as typeof answer & { error: typeof error }).error;
    expect([error.code, error.details], shown).toEqual([service.code, service.details]);
    expect(error.message, shown).toContain(service.message.replace(/\.$/, "").slice(0, 100));
  }
}
