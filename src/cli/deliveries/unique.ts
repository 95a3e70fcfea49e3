import { randomBytes, randomInt } from "node:crypto";

/**
 * A positive integer that no other run has used: 53 random bits, since two runs may begin in the same millisecond.
 */
export function uniqueInteger(): number {
  return randomInt(1, 2 ** 26) * 2 ** 27 + randomInt(2 ** 27);
}

/** The id of an event that is no signal, in the form the service gives them. */
export function uniqueEventId(): string {
  return `evt_${randomBytes(8).toString("hex")}`;
}
