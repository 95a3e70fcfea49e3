import { defineSender, type SenderDefinition } from "./engine/define-sender.js";
import type { EventsByType, Sender } from "./engine/sender.js";
import { firstSampleOf } from "./samples.js";

/** Makes a sender of which the package has samples. */
export function knownSender<Event = unknown>(
  definition: SenderDefinition<Event>,
): Sender<EventsByType<Event>> {
  return defineSender({ sample: firstSampleOf(definition.name), ...definition });
}
