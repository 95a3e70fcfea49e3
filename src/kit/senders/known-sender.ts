import { z } from "zod";
import { checkOptions } from "../../base/options/option-error.js";
import { defineSender, type SenderDefinition } from "./engine/define-sender.js";
import type { AnySender, Sender } from "./engine/sender.js";
import { firstSampleOf } from "./samples.js";

export const noOptions = z.strictObject({}).optional();

/** Makes a sender of which the package has samples. @param given of a function without options */
export function knownSender<Events extends object>({
  arguments: given,
  ...definition
}: SenderDefinition & { arguments?: IArguments }): Sender<Events> {
  checkSenderOptions(definition.name, noOptions, given?.[0]);
  const sender: AnySender = defineSender({ sample: firstSampleOf(definition.name), ...definition });
  return sender as Sender<Events>;
}

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function checkSenderOptions<Schema extends z.ZodType>(
  factory: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  return checkOptions({ name: factory, page: "docs/senders.md" }, schema, options);
}
