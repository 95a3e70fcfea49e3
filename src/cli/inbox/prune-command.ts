import type { Command } from "#commander";
import { RETENTION } from "../../kit/inbox/retention.js";
import { DAY_MS } from "../../base/time/units.js";
import { runs, withExamples, type CommandContext } from "../console/define-command.js";
import { usageError } from "../console/exit.js";
import { echoed } from "../console/printable.js";
import { numberOf } from "../console/parse-option.js";
import { addInboxOptions, withInbox } from "./open-inbox.js";

const { keyDays: KEY_DAYS, leastKeyDays: LEAST, payloadDays: PAYLOAD_DAYS } = RETENTION;
/**
 * The number of events in a batch. It is small, so that a running receiver can write between two
 * batches.
 */
const ROWS_AT_ONCE = 500;

export function addPruneCommand(parent: Command, context: CommandContext): void {
  const command = addInboxOptions(
    parent.command("prune").description("Delete old done events now, as a running receiver does."),
  )
    .option(
      "--key-days <days>",
      `how long the id of a done event is kept; at least ${LEAST}`,
      numberOf(LEAST),
      KEY_DAYS,
    )
    .option(
      "--payload-days <days>",
      "how long its payload is kept; at most --key-days",
      numberOf(0),
      PAYLOAD_DAYS,
    );
  withExamples(command, [
    ["signalbox inbox prune --db signals.db", "Delete what a receiver deletes by default"],
    ["signalbox inbox prune --db signals.db --payload-days 1", "Keep payloads for one day only"],
  ]);
  runs(command, context, async (options, { cli }) => {
    const { keyDays, payloadDays, json } = options;
    const { terminal, signal } = cli;
    if (payloadDays > keyDays) {
      throw usageError(
        `--payload-days ${payloadDays} is more than --key-days ${keyDays}: a payload cannot be kept longer than its id`,
      );
    }
    const request = {
      payloadsOlderThanMs: payloadDays * DAY_MS,
      keysOlderThanMs: keyDays * DAY_MS,
      limit: ROWS_AT_ONCE,
    };
    await withInbox(options, async ({ store, endpoints }) => {
      for (const endpoint of endpoints) {
        const total = { payloads: 0, keys: 0 };
        for (;;) {
          signal.throwIfAborted();
          const { payloads, keys } = await store.prune({ endpoint, ...request });
          total.payloads += payloads;
          total.keys += keys;
          terminal.progress(`${total.payloads} payloads, ${total.keys} ids`);
          if (payloads + keys === 0) break;
        }
        const of = endpoints.length > 1 ? ` of ${echoed(endpoint)}` : "";
        if (json) terminal.printJson({ endpoint, ...total });
        else terminal.print(`deleted ${total.payloads} payloads and ${total.keys} ids${of}`);
      }
    });
  });
}
