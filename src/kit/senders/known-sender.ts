import type { z } from "zod";
import { checkOptions } from "../../base/options/option-error.js";
import { defineSender, type SenderDefinition } from "./engine/define-sender.js";
import type { EventsByType, Sender } from "./engine/sender.js";
import { firstSampleOf } from "./samples.js";

/** Makes a sender of which the package has samples. */
export function knownSender<Event = unknown>(
  definition: SenderDefinition<Event>,
): Sender<EventsByType<Event>> {
  return defineSender({ sample: firstSampleOf(definition.name), ...definition });
}

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function checkSenderOptions<Schema extends z.ZodType>(
  factory: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  return checkOptions({ name: factory, page: "docs/senders.md" }, schema, options);
}
