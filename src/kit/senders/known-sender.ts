import { z } from "zod";
import { safely } from "../../base/errors.js";
import { checkOptions } from "../../base/options/option-error.js";
import { functionOption } from "../../base/options/option-schemas.js";
import { defineSender, settled, type SenderDefinition } from "./engine/define-sender.js";
import type { AnySender, Sender } from "./engine/sender.js";
import { firstSampleOf } from "./samples.js";

/** The option of every built-in sender. */
export interface SenderOptions<Event> {
  /**
   * What the event is about, such as the id of a customer: its `subject` in lists and searches, and
   * its key with `order: true`. Must be pure, since stored events are read again. What is no text of
   * 1 to 200 letters, digits and `_.:/@#+-`, and what is thrown, is null.
   *
   * @default that of docs/senders.md
   */
  subject?: ((event: Event) => unknown) | undefined;
}

type Subject = SenderOptions<never>["subject"];

/**
 * Makes a sender of which the package has samples.
 *
 * @param options of a function that has `subject` alone
 */
export function knownSender<Events extends object>({
  options,
  subject,
  ...definition
}: SenderDefinition & { options?: object; subject?: Subject }): Sender<Events> {
  const chosen = subject ?? checkSenderOptions(definition.name, {}, options ?? {}).subject;
  const sample = firstSampleOf(definition.name);
  const sender: AnySender = defineSender(withSubject(chosen, { sample, ...definition }));
  return sender as Sender<Events>;
}

/** The sender with the subject that its user has chosen. */
export function withSubject(subject: Subject, definition: SenderDefinition): SenderDefinition {
  if (subject === undefined) return definition;
  return {
    ...definition,
    // It is read from the signed body. Were it compared, a retry would be a new event to the
    // version of an app that has another `subject`.
    unsignedFacts: definition.unsignedFacts ?? ["type", "subtype"],
    read(delivery) {
      const read = definition.read(delivery);
      const event = (read.event ?? delivery.json) as never;
      return { ...read, event, subject: safely(() => settled(subject(event)), null) };
    },
  };
}

/** @throws SignalboxError `option_unknown`, `option_invalid` */
export function checkSenderOptions<Shape extends z.ZodRawShape>(
  factory: string,
  shape: Shape,
  options: unknown,
) {
  const subject = functionOption<NonNullable<Subject>>().optional();
  const owner = { name: factory, page: "docs/senders.md" };
  return checkOptions(owner, z.strictObject({ subject, ...shape }), options);
}
