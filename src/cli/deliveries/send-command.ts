import { existsSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { Option, type Command } from "#commander";
import type { EventSample } from "../../kit/senders/samples.js";
import { deliveryOfSample, fillSample, samplesOf } from "../../kit/senders/samples.js";
import { runs, type CommandContext, type OptionsOf } from "../console/define-command.js";
import { EXIT, usageError, type ExitCode } from "../console/exit.js";
import {
  collect,
  httpUrl,
  wholeNumber,
  readInput,
  readSecrets,
  SECRET,
  SECRET_FILE,
} from "../console/options.js";
import {
  headersForFile,
  headersOf,
  PUBLIC_URL,
  SENDER,
  SENDER_HEADER,
  senderOf,
} from "../console/sender.js";
import { echoed, shortened, type Terminal } from "../console/terminal.js";
import {
  findSample,
  jsonObjectIn,
  parseAssignment,
  parseEventSource,
  readEventSource,
  setPaths,
  unknownType,
  type Assignment,
  restamp,
  withSignalId,
} from "./event-source.js";
import {
  answerTimes,
  describeAnswer,
  describeTimes,
  isQuarantined,
  isSuccess,
  rounded,
  sendDelivery,
  unreachable,
  type Answer,
} from "./send-delivery.js";

const skewSeconds = wholeNumber(-999_999_999, 999_999_999);

export function addCommand(program: Command, context: CommandContext) {
  const command = program
    .command("send")
    .description(
      "Sign an event now and send it: with a new id and new times, but with --sender the bytes of a file as they are.",
    )
    .argument(
      "<type|file>",
      "a signal type, test, verification, a file, or - for stdin; with --sender: a type such as invoice.paid (any other word lists them), sample, a file or -",
    )
    .requiredOption("--url <url>", "the address of the receiver", httpUrl)
    .addOption(SECRET)
    .addOption(SECRET_FILE)
    .addOption(SENDER)
    .addOption(SENDER_HEADER)
    .addOption(PUBLIC_URL)
    .option("--count <n>", "the number of deliveries (default: 1)", wholeNumber(1, 10_000_000))
    .option("--duplicate", "send one event --count times: the same id and body, signed anew")
    .option("--concurrency <n>", "how many deliveries to send at a time", wholeNumber(1, 1024), 1)
    .option(
      "--skew <seconds>",
      "shift the signature's timestamp; negative: into the past",
      skewSeconds,
      0,
    )
    .option("--tamper", "change a byte of the body after signing")
    .option("--set <path=value>", "set a property of the event (repeatable)", collect)
    .addOption(new Option("--as-is", "send the bytes of the file unchanged").conflicts("set"))
    .option("--timeout <seconds>", "how long to wait for an answer", wholeNumber(1, 3600), 15)
    .option("--json", "print NDJSON");
  runs(command, context, send);
  return command;
}

type SendOptions = OptionsOf<typeof addCommand>;

async function send(
  source: string,
  options: SendOptions,
  { cli }: CommandContext,
): Promise<ExitCode> {
  const { url, count = 1, concurrency, json = false, skew, tamper, sender: name } = options;
  if (options.duplicate && options.count === undefined)
    throw usageError("--duplicate needs --count <n>, the number of times to send the event");
  if (options.header && name === undefined) throw usageError("-H needs --sender <name>");
  const secrets = readSecrets(options, cli);
  const assignments = (options.set ?? []).map(parseAssignment);
  const sender = await senderOf(options, secrets[0]);
  const samples = name === undefined ? [] : samplesOf(name);
  const sample = source === "sample" ? samples[0] : findSample(samples, source);
  if (name !== undefined && sample === undefined && source !== "-" && !existsSync(source))
    throw unknownType(name, source);
  const next =
    sample !== undefined
      ? sampleMaker(sample, assignments)
      : await fileMaker(source, options, assignments, cli);
  const first = options.duplicate ? next() : undefined;
  const lines = options.header ?? [];
  let given =
    sample !== undefined || name === undefined
      ? headersOf(lines, sender)
      : headersForFile(lines, sender, cli.terminal);

  const { inParallel } = await import("./send-cases.js");
  const { signedDelivery } = await import("../../kit/testing/signed-delivery.js");
  const { readable } = await import("../../kit/senders/engine/define-sender.js");
  const { changeByte } = await import("./after-signing.js");
  const report = reportAnswers(cli.terminal, count, json);
  const { Agent } = url.protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const target = { url, secrets, timeoutMs: options.timeout * 1000, signal: cli.signal, agent };
  try {
    await inParallel(numbers(count), concurrency, async (number) => {
      const made = first ?? next();
      const now = (Math.floor(Date.now() / 1000) + skew) * 1000;
      const how = { secret: secrets[0], sender, now, headers: { ...made.headers, ...given } };
      const { headers, body } = signedDelivery(made.body, how);
      // Each delivery has the headers of the first, but for its time and signature.
      if (options.duplicate) given = headers;
      const outgoing = { headers, body: tamper ? changeByte(body) : body };
      const answer = await sendDelivery(target, outgoing);
      if (answer.kind === "unreachable") throw unreachable(url, answer.code);
      const read = name ? sender.read(readable(made.body, headers)) : { id: idIn(made.body) };
      report.add({ number, answer, eventId: "id" in read ? read.id : null });
    });
  } finally {
    agent.destroy();
    report.summarise();
  }
  return report.failed === 0 ? EXIT.ok : EXIT.failed;
}

interface Made {
  body: Buffer;
  headers?: Record<string, string>;
}

/** Reads `TYPE|FILE`, and returns a function that makes the next body to send. */
async function fileMaker(
  source: string,
  { asIs, sender, tamper }: SendOptions,
  assignments: readonly Assignment[],
  cli: CommandContext["cli"],
): Promise<() => Made> {
  const bytes = await (sender === undefined
    ? readEventSource(source, cli)
    : readInput(source, cli));
  if (tamper && bytes.length === 0)
    throw usageError(`--tamper: ${source} is empty, so there is no byte to change`);
  // Another sender's event is not made new: its ids are its own.
  if (asIs || (sender !== undefined && assignments.length === 0)) return () => ({ body: bytes });
  const event = parseEventSource(bytes, source);
  const sets = (path: string): boolean =>
    assignments.some((assignment) => assignment.path.join(".") === path);
  return () => {
    const stamped = setPaths(
      sender === undefined ? restamp(event, Date.now()) : event,
      assignments,
    );
    // An event's id contains the ids of its signal and product, which --set may have changed. So
    // the id is made again, unless --set has set the id itself.
    const isKept = sender !== undefined || sets("id") || assignments.length === 0;
    return { body: Buffer.from(JSON.stringify(isKept ? stamped : withSignalId(stamped))) };
  };
}

/** The ids of samples are made of the time: no two events of this process have the same. */
let latest = 0;

/** Returns a function that makes the next event of the sample. */
function sampleMaker(sample: EventSample, assignments: readonly Assignment[]): () => Made {
  return () => {
    latest = Math.max(Date.now(), latest + 1);
    const { json, form = {}, ...rest } = fillSample(sample, latest);
    const fields = setPaths(json ?? form, assignments);
    const { body, headers } = deliveryOfSample({
      ...rest,
      [json === undefined ? "form" : "json"]: fields,
    });
    return { body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), headers };
  };
}

function* numbers(count: number): Generator<number> {
  for (let number = 1; number <= count; number++) yield number;
}

interface SentDelivery {
  number: number;
  answer: Answer;
  eventId: string | null;
}

function reportAnswers(terminal: Terminal, count: number, asJson: boolean) {
  const startedAt = performance.now();
  const byOutcome = new Map<string, number>();
  const times: number[] = [];
  let failed = 0;
  let quarantined = 0;

  return {
    add(sent: SentDelivery): void {
      const { answer } = sent;
      if (!isSuccess(answer)) failed += 1;
      if (answer.kind === "answer") times.push(answer.ms);
      const outcome =
        answer.kind === "answer" ? String(answer.status) : describeAnswer(answer, false);
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
      if (asJson) terminal.printJson(jsonOf(sent));
      else terminal.print(lineOf(sent, count, terminal));
      if (isQuarantined(answer)) quarantined += 1;
      if (times.length % 16 === 0)
        terminal.progress(`${times.length} of ${count}, ${failed} failed`);
    },
    get failed(): number {
      return failed;
    },
    /**
     * Prints the totals. With `asJson` they are an object; otherwise a single delivery has none.
     */
    summarise(): void {
      if (quarantined > 0) {
        const text = `${quarantined} quarantined: the receiver keeps such an event, but cannot use it. To list them:`;
        terminal.note(terminal.notePaint.yellow(text));
        terminal.note("  $ npx signalbox inbox ls --state quarantined --db INBOX");
      }
      const sent = [...byOutcome.values()].reduce((sum, each) => sum + each, 0);
      if (sent === 0) return;
      // An error or Ctrl-C may have ended the run early.
      const ok = failed === 0 && sent === count;
      const seconds = (performance.now() - startedAt) / 1000;
      const took = answerTimes(times);
      if (asJson) {
        const { p50Ms = 0, p99Ms = 0 } = took ?? {};
        const counts = { ok, sent, failed, answers: Object.fromEntries(byOutcome) };
        terminal.printJson({ summary: { ...counts, seconds: rounded(seconds), p50Ms, p99Ms } });
      } else if (count > 1) {
        const outcomes = [...byOutcome].map(([outcome, each]) => `${each} × ${outcome}`).join(", ");
        const colour = ok ? terminal.paint.green : terminal.paint.red;
        terminal.print(
          colour(
            `${sent} sent in ${seconds.toFixed(2)} s (${Math.round(sent / seconds)}/s): ${outcomes}`,
          ) + (took === null ? "" : `; ${describeTimes(took)}`),
        );
      }
    },
  };
}

function lineOf(
  { number, answer, eventId }: SentDelivery,
  count: number,
  { paint }: Terminal,
): string {
  const position = count === 1 ? [] : [paint.dim(`#${number}`.padStart(String(count).length + 1))];
  const colour = isSuccess(answer) ? paint.green : paint.red;
  if (answer.kind !== "answer")
    return [...position, colour(describeAnswer(answer, true))].join("  ");
  return [
    ...position,
    colour(String(answer.status)),
    paint.dim(`${answer.ms.toFixed(1)} ms`.padStart(9)),
    ...(eventId === null ? [] : [paint.dim(echoed(eventId))]),
    shortened(answer.shown.trim(), 300),
  ].join("  ");
}

function jsonOf({ number, answer, eventId }: SentDelivery): object {
  if (answer.kind !== "answer") return { number, eventId, error: answer.code };
  return { number, eventId, status: answer.status, ms: rounded(answer.ms), body: answer.shown };
}

function idIn(body: Buffer): string | null {
  const id = jsonObjectIn(body)?.["id"];
  return typeof id === "string" ? id : null;
}
