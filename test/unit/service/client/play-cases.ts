import { readFileSync } from "node:fs";
import { inspect, isDeepStrictEqual } from "node:util";
import { format, resolveConfig } from "prettier";
import { expect } from "vitest";
import { isSignalboxError } from "../../../../src/base/errors.js";
import {
  isClientError,
  type Client,
  type ClientOptions,
  type InvestigationTask,
} from "../../../../src/service/client/index.js";
import {
  demandPage,
  failedTask,
  profile,
  rankingsPage,
  refusal,
  registration,
  task,
} from "./answers.js";
import { API_KEY, clientOn } from "./client-on.js";
import { serve, type Answer, type PlainAnswer, type SeenRequest } from "./serve-answers.js";
import { createWatchedClock, settleOn } from "./watched-clock.js";

/** The client's clock at the beginning of each case. */
const NOW = Date.parse("2026-11-21T12:00:00Z");

/** An answer of the service, as a file has it. */
type GivenAnswer =
  | keyof typeof NAMED
  | { refuse: number; code: string; headers?: Record<string, string>; details?: unknown }
  | { task: Partial<InvestigationTask> }
  /** The page that was asked for, or `page`, with these rows. */
  | {
      rows: number[];
      page?: number;
      hasMore?: boolean;
      headers?: Record<string, string>;
      /** Fields of the last row. */
      wrong?: object;
    }
  | PlainAnswer;

interface Case {
  why: string;
  options?: Partial<Omit<ClientOptions, "random" | "apiKey">> & {
    random?: number;
    /** null: without a key. */
    apiKey?: string | null;
  };
  /** The last one holds for all that follow. Without any, nothing listens at the address. */
  answers?: GivenAnswer[];
  /** The names of methods with what they are given; an iterator is read to its end. */
  calls?: (readonly [name: keyof Client, ...given: unknown[]])[];
  /** Written by `--update`: requests, each with its time, pauses, and what the calls gave. */
  told?: unknown;
}

interface Cases {
  about: string;
  cases: Case[];
}

const NAMED = {
  task: { status: 202, json: task() },
  failedTask: { json: failedTask() },
  registration: { status: 201, json: registration },
  profile: { json: profile },
  hangUp: (request) => void request.socket.destroy(),
  hangUpForGood: (request) => {
    (request.socket as { server?: { close(): void } }).server?.close();
    request.socket.destroy();
  },
  breakOff: (_request, response) => {
    response.writeHead(201, { "Content-Type": "application/json", "Content-Length": "500" });
    response.write('{"id":', () => response.destroy());
  },
} satisfies Record<string, Answer>;

function answerOf(given: GivenAnswer, { path }: SeenRequest): Answer {
  if (typeof given === "string") return NAMED[given];
  if ("refuse" in given) return refusal(given.refuse, given.code, given);
  if ("task" in given) return { json: task(given.task) };
  if (!("rows" in given)) return given;
  const asked = Number(new URL(path, "http://localhost").searchParams.get("page") ?? 1);
  const { rows, page = asked, hasMore = false, wrong, ...others } = given;
  const make = path.includes("rankings") ? rankingsPage : demandPage;
  const json = make(page, hasMore, rows);
  Object.assign(json.items.at(-1) ?? {}, wrong);
  return { ...others, json };
}

const idOf = (row: object): unknown =>
  "rank" in row ? row.rank : (row as { keyword_id?: unknown }).keyword_id;

/** What a call gave: the ids of the rows, or whether it is what was answered. */
function shownValue(value: unknown, answered: unknown): unknown {
  if (value === null || isDeepStrictEqual(value, answered)) return value && "as answered";
  if (Array.isArray(value)) return value.map((each) => shownValue(each, answered));
  const { items } = value as { items?: object[] };
  return items?.map(idOf) ?? idOf(value as object) ?? value;
}

function shownError(error: unknown): object {
  if (isSignalboxError(error)) return { error: error.code, message: error.message };
  if (!isClientError(error)) throw error;
  const { stack: _stack, name: _name, help: _help, cause, ...fields } = error;
  const { message } = error;
  const shown = { ...fields, message, cause: (cause as { code?: string } | undefined)?.code };
  return Object.fromEntries(
    Object.entries(shown).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** All that a log could make of an error. */
export const textsOf = (error: Error): string =>
  [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), error.stack].join("\n");

async function play({ options = {}, answers = [], calls = [["rankings"]] }: Case) {
  let answered: unknown;
  const { baseUrl, seen, server } = await serve((index, request) => {
    sent.push([clock.elapsed(), request.method, request.path, request.body].join(" ").trim());
    const answer = answerOf(answers[Math.min(index, answers.length - 1)] ?? "hangUp", request);
    answered = typeof answer === "function" ? undefined : answer.json;
    return answer;
  });
  if (answers.length === 0) await new Promise((resume) => server.close(resume));
  const clock = createWatchedClock(NOW);
  const sent: string[] = [];
  const gave: unknown[] = [];
  const { random = 1, apiKey = API_KEY, ...others } = options;
  const key = apiKey ?? undefined;
  const progress: string[] = [];
  const onProgress = ({ status }: InvestigationTask): void =>
    void progress.push(`${clock.elapsed()} ${status}`);

  async function call(client: Client, [name, ...given]: readonly [keyof Client, ...unknown[]]) {
    if (name === "waitForInvestigation" && given.length === 1) given.push({ onProgress });
    const method = client[name] as (...input: unknown[]) => unknown;
    const result = await method(...given);
    const rows = result as AsyncIterable<unknown> | null;
    if (rows === null || !(Symbol.asyncIterator in rows)) return shownValue(result, answered);
    const read: unknown[] = [];
    for await (const row of rows) read.push(shownValue(row, undefined));
    return read;
  }

  try {
    const { client } = clientOn(baseUrl, { random: () => random, apiKey: key, ...others }, clock);
    if (key) expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(key);
    for (const each of calls) {
      const result = call(client, each);
      await settleOn(clock, result, 250);
      gave.push(
        await result.catch((error: Error) => {
          if ((key?.length ?? 0) > 7) expect(textsOf(error)).not.toContain(key);
          return shownError(error);
        }),
      );
    }
  } catch (error) {
    gave.push(shownError(error));
  }
  for (const { method, headers } of seen) {
    expect(headers.accept).toBe("application/json");
    expect(headers["content-type"]).toBe(method === "POST" ? "application/json" : undefined);
    expect(headers.authorization).toBe(key && `Bearer ${key}`);
    if (options.userAgent !== undefined) expect(headers["user-agent"]).toBe(options.userAgent);
  }
  return {
    ...(sent.length > 0 && { sent }),
    ...(clock.pauses.length > 0 && { pauses: clock.pauses }),
    ...(progress.length > 0 && { progress }),
    gave,
  };
}

const UUID = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g;

/** Plays the cases of a file, and holds what was told against it. */
export async function expectCases(file: string): Promise<void> {
  const { about, cases } = JSON.parse(readFileSync(file, "utf8")) as Cases;
  const played: Case[] = [];
  for (const { told: _told, ...each } of cases) {
    const uuids: string[] = [];
    const told = JSON.stringify(await play(each))
      .replaceAll(/127\.0\.0\.1:\d{4,}/g, "HOST")
      .replaceAll(UUID, (uuid) => {
        if (!uuids.includes(uuid)) uuids.push(uuid);
        return `UUID-${uuids.indexOf(uuid) + 1}`;
      });
    played.push({ ...each, told: JSON.parse(told) as unknown });
  }
  const text = JSON.stringify({ about, cases: played });
  const style = { ...(await resolveConfig(file)), parser: "json" };
  await expect(await format(text, style)).toMatchFileSnapshot(file);
}
