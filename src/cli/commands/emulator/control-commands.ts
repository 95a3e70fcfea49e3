import type { Command } from "#commander";
import type { EmulatorControl } from "../../../emulator/instance/create-emulator.js";
import { withoutSignature } from "../../../inbox/exported-event.js";
import type { SignalEvent } from "../../../events/envelope.js";
import { runs, withExamples, type CommandContext, type Example } from "../../options/define-command.js";
import { usageError } from "../../options/exit.js";
import { httpUrl, notEmpty, wholeNumber } from "../../options/parse-option.js";
import { printable } from "../../console/printable.js";
import { formatCount } from "../../../text/format.js";
import { formatTable } from "../../console/table.js";
import { readSignalTypes } from "../../registration/signal-type-list.js";
import { textOfMove } from "../../emulator/event-line.js";
import { followMostVisited } from "../../emulator/follow-most-visited.js";
import { connectControl, serviceUrl } from "../../emulator/remote-control.js";

type Delivery = Awaited<ReturnType<EmulatorControl["readDelivery"]>>;

interface Given {
  control: EmulatorControl;
  /** The emulator's address, such as `http://127.0.0.1:4010`. */
  origin: string;
  /** The arguments of the command. */
  words: readonly string[];
  /** The account of `--account`. */
  account: number;
  product?: string;
  top?: number;
  months?: number;
  days?: number;
  hours?: number;
  minutes?: number;
  new?: true;
}

/** An answer of the emulator: each value is a line of NDJSON, each row a line for a person. */
interface Answer {
  values: readonly object[];
  rows: readonly (readonly string[])[];
  /** Printed below the rows. Not broken at the edge of a terminal. */
  body?: string | undefined;
}

function listed<Value extends object>(values: readonly Value[], rowOf: (value: Value) => string[]): Answer {
  return { values, rows: values.map(rowOf) };
}

interface ControlCommand {
  /** With its arguments in brackets, as Commander takes them. */
  usage: string;
  about: string;
  example: Example;
  addOptions?: (command: Command) => Command;
  run: (given: Given) => Promise<Answer>;
}

const LISTED_DELIVERIES = 20;

const withAccount = (command: Command): Command =>
  command.option("--account <id>", "the account; `npx signalbox emulator accounts` lists them", wholeNumber(1), 1);

const COMMANDS: readonly ControlCommand[] = [
  {
    usage: "publish <types...>",
    about: "Publish a signal of each type. It is sent to the registrations of the accounts that follow the product.",
    example: ["signalbox emulator publish price_increased", "Publish a signal about a product that account 1 follows"],
    addOptions: (command) =>
      withAccount(command).option(
        "--product <slug>",
        "the product; if not given, one that the account follows",
        notEmpty,
      ),
    async run({ control, words, account, product }) {
      const types = readSignalTypes({ types: [...words] }).flat();
      const slug = product ?? (await anyFollowed(control, account));
      const values = [];
      for (const signal_type of types) {
        values.push({ signal_type, ...(await control.publishSignal({ signal_type, slug })) });
      }
      return listed(values, ({ signal_type, event_id, hint, registrations }) => [
        event_id,
        `${signal_type} ${slug}: ${hint ?? `sent to ${formatCount(registrations, "registration")}`}`,
      ]);
    },
  },
  {
    usage: "follow [slugs...]",
    about: "Make an account follow products, and list the products that it follows. It gets signals only about these.",
    example: ["signalbox emulator follow --top 25", "Follow the 25 products with the most traffic"],
    addOptions: (command) =>
      withAccount(command).option("--top <n>", "follow the products with the most traffic", wholeNumber(1, 50)),
    async run({ control, origin, words, account, top }) {
      if (words.length > 0) await control.follow({ account_id: account, slugs: [...words] });
      if (top !== undefined) {
        const { token } = await control.createSession({ account_id: account, lifetime_seconds: 60 });
        await followMostVisited(control, { account, count: top, baseUrl: `${origin}/v1`, apiKey: token });
      }
      const { items } = await control.listFollows({ account_id: account });
      return listed(items, ({ slug }) => [slug]);
    },
  },
  {
    usage: "advance",
    about: "Advance the service's clock, and do all work that is due until then.",
    example: ["signalbox emulator advance --months 1", "Let a month pass, with its signals"],
    addOptions: (command) =>
      command
        .option("--months <n>", "calendar months", wholeNumber(1))
        .option("--days <n>", "days", wholeNumber(1))
        .option("--hours <n>", "hours", wholeNumber(1))
        .option("--minutes <n>", "minutes", wholeNumber(1)),
    async run({ control, months, days, hours, minutes }) {
      if ((months ?? days ?? hours ?? minutes) === undefined)
        throw usageError("how far? Give --months 1, --days 1, --hours 1 or --minutes 1");
      return listed([await control.advance({ months, days, hours, minutes })], (move) => [textOfMove(move)]);
    },
  },
  {
    usage: "deliveries [id]",
    about: `List the last ${LISTED_DELIVERIES} deliveries, the newest first, or show one with its requests and answers.`,
    example: ["signalbox emulator deliveries", "List what was sent, and what the receiver answered"],
    async run({ control, words: [id] }) {
      if (id !== undefined) {
        if (!/^[1-9]\d*$/.test(id)) throw usageError("the id of a delivery is a number");
        const delivery = unsigned(await control.readDelivery({ delivery_id: Number(id) }));
        return { values: [delivery], rows: fieldsOf(delivery), body: delivery.attempts.at(-1)?.request.body };
      }
      const { items } = await control.listDeliveries({ limit: LISTED_DELIVERIES });
      return listed(items.map(unsigned), (delivery) => {
        const { delivery_id, state, attempts } = delivery;
        return [String(delivery_id), state, answerOf(attempts.at(-1)), subjectOf(delivery)];
      });
    },
  },
  {
    usage: "accounts",
    about: "List the accounts.",
    example: ["signalbox emulator accounts", "List the accounts with their counted calls of this month"],
    async run({ control }) {
      const { items } = await control.listAccounts();
      return listed(items, ({ account_id, tier, calls_this_month, name }) => [
        String(account_id),
        tier,
        `${calls_this_month} calls this month`,
        name,
      ]);
    },
  },
  {
    usage: "keys",
    about: "List the API keys of an account by their first characters, or make one.",
    example: ["signalbox emulator keys --new", "Make an API key with all scopes; it is shown only once"],
    addOptions: (command) => withAccount(command).option("--new", "make a key with all scopes, and print it"),
    async run({ control, account, new: isNew }) {
      if (isNew) return listed([await control.createKey({ account_id: account })], ({ key }) => [key]);
      const { items } = await control.listKeys({ account_id: account });
      return listed(items, ({ key_id, hint, revoked_at }) => [
        `${hint}…`,
        revoked_at === null ? "valid" : "revoked",
        key_id,
      ]);
    },
  },
];

/** Adds the commands that speak to an emulator that runs. */
export function addControlCommands(emulator: Command, context: CommandContext): void {
  const { terminal, env, signal } = context.cli;
  for (const { usage, about, example, addOptions, run } of COMMANDS) {
    const command = emulator.command(usage).description(about).allowExcessArguments(false);
    addOptions?.(command);
    command
      .option("--base-url <url>", "the emulator's address; or set SIGNALS_BASE_URL", httpUrl)
      .option("--json", "print NDJSON");
    withExamples(command, [example]);
    runs(command, context, async () => {
      const { baseUrl, json, ...options } = command.opts<Omit<Given, "control"> & { baseUrl?: URL; json?: true }>();
      const { origin } = baseUrl ?? (await serviceUrl(env));
      const words = command.processedArgs.flat() as string[];
      const control = await connectControl(origin, { token: env["SIGNALS_CONTROL_TOKEN"] || undefined, signal });
      const { values, rows, body } = await run({ ...options, control, origin, words });
      if (json ?? emulator.opts<{ json?: true }>().json) for (const value of values) terminal.printJson(value);
      else {
        const cells = rows.map((row) => row.map((text) => ({ text: printable(text) })));
        for (const line of formatTable(cells)) terminal.print(line);
        if (body !== undefined) await terminal.write(`\n${printable(body)}\n`);
      }
    });
  }
}

async function anyFollowed(control: EmulatorControl, account: number): Promise<string> {
  const { items } = await control.listFollows({ account_id: account });
  const chosen = items[Math.floor(Math.random() * items.length)];
  if (chosen !== undefined) return chosen.slug;
  throw usageError(
    `account ${account} follows no product: type \`npx signalbox emulator follow --top 25\`, or give --product`,
  );
}

/** The signal's type and product, or the type of another event. */
function subjectOf({ event_type, event_id, attempts }: Delivery): string {
  const body = attempts.at(-1)?.request.body;
  if (event_type !== "signal.published") return event_type;
  // Without an attempt there is no request, which holds the signal.
  if (body === undefined) return event_id;
  const { data } = JSON.parse(body) as SignalEvent;
  return `${data.signal_type} ${data.product.slug}`;
}

function answerOf(attempt: Delivery["attempts"][number] | undefined): string {
  if (attempt === undefined) return "not sent yet";
  const { answer, failure, duration_ms } = attempt;
  return answer === null ? (failure ?? "").replaceAll("_", " ") : `${answer.status} in ${Math.round(duration_ms)} ms`;
}

/** The delivery without its signatures, which no command tells. */
function unsigned(delivery: Delivery): Delivery {
  const attempts = delivery.attempts.map((attempt) => {
    const headers = withoutSignature(attempt.request.headers);
    return { ...attempt, request: { ...attempt.request, headers } };
  });
  return { ...delivery, attempts };
}

function fieldsOf(delivery: Delivery): string[][] {
  const { delivery_id, event_id, state, registration_id, next_attempt_at, attempts } = delivery;
  return [
    ["delivery", String(delivery_id)],
    ["event", event_id],
    ["about", subjectOf(delivery)],
    ["state", state],
    ["registration", registration_id],
    ...(next_attempt_at === null ? [] : [["next attempt", next_attempt_at]]),
    ...attempts.map((attempt) => [
      `${attempt.started_at.slice(0, 19)}Z`,
      `${answerOf(attempt)} ${attempt.answer?.body ?? ""}`,
    ]),
  ];
}
