import { nearMiss } from "../../base/options/near-miss.js";
import { samplesOf, type EventSample } from "../../kit/senders/samples.js";
import { echoed } from "../console/printable.js";
import { usageError } from "../console/exit.js";

/** Finds an event by its type, or by its type and subtype with a dot between them. */
export function findSample(samples: readonly EventSample[], name: string): EventSample | undefined {
  return samples.find((sample) => name === sample.type || name === nameOf(sample));
}

/** The error for a name that is no type of the sender. It lists the types. */
export function unknownType(sender: string, name: string): Error {
  const names = [...new Set(samplesOf(sender).map(nameOf))];
  const meant = nearMiss(name, names);
  const question = meant === undefined ? "" : ` did you mean ${meant}?`;
  const list = `use sample, or one of: ${names.join(", ")}`;
  return usageError(
    `"${echoed(name)}" is neither a file nor a type of ${sender};${question} ${list}`,
  );
}

function nameOf({ type, subtype }: EventSample): string {
  return subtype === null ? type : `${type}.${subtype}`;
}
