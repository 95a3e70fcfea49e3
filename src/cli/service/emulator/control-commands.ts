import { Option, type Command, type OptionValues } from "#commander";
import { formatCount } from "../../../base/text/format.js";
import { withoutSignature } from "../../../kit/inbox/exported-event.js";
import type { SignalEvent } from "../../../kit/senders/signals/envelope.js";
import type { EmulatorControl } from "../../../service/emulator/instance/create-emulator.js";
import { runs, type CommandContext } from "../../console/define-command.js";
import { usageError } from "../../console/exit.js";
import { httpUrl, notEmpty, wholeNumber } from "../../console/options.js";
import { echoed, printable, formatTable } from "../../console/terminal.js";
import { readSignalTypes } from "../signal-type-list.js";
import { connectControl } from "./remote-control.js";
import { textOfMove } from "./report-event.js";
import { followMostVisited } from "./start-emulator.js";

type Delivery = Awaited<ReturnType<EmulatorControl["readDelivery"]>>;

/** An answer of the emulator: each value is a line of NDJSON, each row a line for a person. */
interface Answer {
  values: readonly object[];
  rows: readonly (readonly string[])[];
  /** Printed below the rows. Not broken at the edge of a terminal. */
  body?: string | undefined;
}

function listed<Value extends object>(
  values: readonly Value[],
  rowOf: (value: Value) => string[],
): Answer {
  return { values, rows: values.map(rowOf) };
}

const LISTED_DELIVERIES = 20;

const ACCOUNT = new Option(
  "--account <account>",
  "the account's name or id (default: the first one)",
).argParser(notEmpty);
const BASE_URL = new Option(
  "--base-url <url>",
  "the emulator's address; or set SIGNALS_BASE_URL",
).argParser(httpUrl);

/** Adds the commands that speak to an emulator that runs. */
export function addControlCommands(
  emulator: Command<[], { json?: true }>,
  context: CommandContext,
): void {
  const { terminal } = context.cli;

  function asks<Args extends unknown[], Options extends OptionValues>(
    command: Command<Args, Options>,
    ask: (
      emulator: { control: EmulatorControl; origin: string },
      ...given: [...Args, Options]
    ) => Promise<Answer>,
  ): void {
    command.addOption(BASE_URL).option("--json", "print NDJSON").allowExcessArguments(false);
    runs(command, context, async () => {
      const options = command.opts();
      const { baseUrl, json = emulator.opts().json } = options as { baseUrl?: URL; json?: true };
      const connected = await connectControl(baseUrl, context.cli);
      const { values, rows, body } = await ask(connected, ...command.processedArgs, options);
      if (json) for (const value of values) terminal.printJson(value);
      else {
        for (const line of formatTable(rows.map((row) => row.map(printable)))) terminal.print(line);
        if (body !== undefined) await terminal.write(`\n${printable(body)}\n`);
      }
    });
  }

  asks(
    emulator
      .command("publish <types...>")
      .description("Publish a signal of each type, to the accounts that follow the product.")
      .addOption(ACCOUNT)
      .option(
        "--product <slug>",
        "the product; if not given, one that the account follows",
        notEmpty,
      ),
    async ({ control }, words, { account, product }) => {
      const types = readSignalTypes({ types: words }).flat();
      const slug = product ?? (await anyFollowed(control, await accountOf(control, account)));
      const values = [];
      for (const signal_type of types) {
        values.push({ signal_type, ...(await control.publishSignal({ signal_type, slug })) });
      }
      return listed(values, ({ signal_type, event_id, hint, registrations }) => [
        event_id,
        `${signal_type} ${slug}: ${hint ?? `sent to ${formatCount(registrations, "registration")}`}`,
      ]);
    },
  );
  asks(
    emulator
      .command("follow [slugs...]")
      .description(
        "Make an account follow products, and list them all. It gets signals only about these.",
      )
      .addOption(ACCOUNT)
      .option("--top <n>", "follow the products with the most traffic", wholeNumber(1, 50)),
    async ({ control, origin }, slugs, { account, top }) => {
      const account_id = await accountOf(control, account);
      if (slugs.length > 0) await control.follow({ account_id, slugs });
      if (top !== undefined) {
        const { token } = await control.createSession({ account_id, lifetime_seconds: 60 });
        const { createClient } = await import("../../../service/client/client.js");
        const client = createClient({ baseUrl: `${origin}/v1`, apiKey: token });
        await followMostVisited(control, client, { account_id, limit: top });
      }
      const { items } = await control.listFollows({ account_id });
      return listed(items, ({ slug }) => [slug]);
    },
  );
  asks(
    emulator
      .command("advance")
      .description("Advance the service's clock, and do all work that is due until then.")
      .option("--months <n>", "calendar months", wholeNumber(1))
      .option("--days <n>", "days", wholeNumber(1))
      .option("--hours <n>", "hours", wholeNumber(1))
      .option("--minutes <n>", "minutes", wholeNumber(1)),
    async ({ control }, { months, days, hours, minutes }) => {
      if ((months ?? days ?? hours ?? minutes) === undefined)
        throw usageError("how far? Give --months 1, --days 1, --hours 1 or --minutes 1");
      return listed([await control.advance({ months, days, hours, minutes })], (move) => [
        textOfMove(move),
      ]);
    },
  );
  asks(
    emulator
      .command("deliveries [id]")
      .description(
        `List the last ${LISTED_DELIVERIES} deliveries, newest first, or show one with its requests and answers.`,
      ),
    async ({ control }, id) => {
      if (id !== undefined) {
        if (!/^[1-9]\d*$/.test(id)) throw usageError("the id of a delivery is a number");
        const delivery = unsigned(await control.readDelivery({ delivery_id: Number(id) }));
        return {
          values: [delivery],
          rows: fieldsOf(delivery),
          body: delivery.attempts.at(-1)?.request.body,
        };
      }
      const { items } = await control.listDeliveries({ limit: LISTED_DELIVERIES });
      return listed(items.map(unsigned), (delivery) => {
        const { delivery_id, state, attempts } = delivery;
        return [String(delivery_id), state, answerOf(attempts.at(-1)), subjectOf(delivery)];
      });
    },
  );
}

/** @param typed the account's name or id; the first account if it is not given */
async function accountOf(control: EmulatorControl, typed: string | undefined): Promise<number> {
  const { items } = await control.listAccounts();
  const found = items.find(({ account_id, name }) =>
    [undefined, name, String(account_id)].includes(typed),
  );
  if (found !== undefined) return found.account_id;
  const names = items.map(({ account_id, name }) => `${name} (${account_id})`);
  throw usageError(
    `--account ${echoed(typed ?? "")}: there is no such account; there are ${names.join(", ")}`,
  );
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
  return answer === null
    ? (failure ?? "").replaceAll("_", " ")
    : `${answer.status} in ${Math.round(duration_ms)} ms`;
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
