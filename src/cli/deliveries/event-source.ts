import { statSync } from "node:fs";
import { parseJson } from "../../events/parse-json.js";
import { SIGNAL_TYPES } from "../../events/signal-types.js";
import { nearMiss } from "../../options/near-miss.js";
import type { Cli } from "../console/cli.js";
import { environmentError, usageError } from "../options/exit.js";
import { PACKAGED_FIXTURES } from "./packaged-fixtures.js";
import { echoed } from "../console/printable.js";
import { readInput } from "../options/read-input.js";
import { isJsonObject } from "./restamp.js";

const OTHER_TYPES = new Map([
  ["test", "events/webhook.test"],
  ["webhook.test", "events/webhook.test"],
  ["verification", "events/webhook.verification"],
  ["webhook.verification", "events/webhook.verification"],
]);

/** The bytes behind `TYPE|FILE`: a type's fixture, a file, or stdin for `-`. A type wins over a file of its name. */
export async function readEventSource(source: string, cli: Pick<Cli, "stdin" | "signal">): Promise<Buffer> {
  const fixture = (SIGNAL_TYPES as readonly string[]).includes(source) ? `signals/${source}` : OTHER_TYPES.get(source);
  if (fixture !== undefined) return readInput(`${PACKAGED_FIXTURES}${fixture}.json`, cli);
  if (source === "-" || statSync(source, { throwIfNoEntry: false }) !== undefined) return readInput(source, cli);
  if (/[./\\]/.test(source)) throw environmentError(`cannot read ${echoed(source)}: there is no such file`);
  const meant = nearMiss(source, [...SIGNAL_TYPES, "test", "verification"]);
  const advice = meant === undefined ? "such as price_increased, or test or verification" : `did you mean ${meant}?`;
  throw usageError(`"${echoed(source)}" is neither a file nor a type of signal; ${advice}`);
}

/** @throws CliError for what can only be sent as it is */
export function parseEventSource(bytes: Buffer, source: string): Record<string, unknown> {
  const json = parseJson(bytes);
  if (json.ok && isJsonObject(json.value)) return json.value;
  throw usageError(`${echoed(source)} holds no JSON object: give --as-is to send its bytes untouched`);
}
