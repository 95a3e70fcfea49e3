import { SIGNAL_TYPES, type KnownSignalType } from "../../../events/signal-types.js";
import { nearMiss } from "../../../options/near-miss.js";
import { usageError } from "../../options/exit.js";
import { echoed } from "../../console/printable.js";

/** Of one registration (service document, Endpoints, 3). */
export const MOST_SIGNAL_TYPES = 30;

interface TypeOptions {
  types?: string[];
  allTypes?: true;
}

/** The types that were asked for, each once, in as few lists as registrations are needed. */
export function readSignalTypes({ types, allTypes }: TypeOptions): KnownSignalType[][] {
  if (types === undefined && allTypes === undefined) {
    throw usageError("say which signals: --all-types, or --types price_increased,price_decreased");
  }
  const wanted = types === undefined ? SIGNAL_TYPES : types.flatMap(namesIn).map(known);
  const unique = [...new Set(wanted)];
  if (unique.length === 0) throw usageError("--types names no signal type; such as --types price_increased,new_model");
  const registrations = Math.ceil(unique.length / MOST_SIGNAL_TYPES);
  return Array.from({ length: registrations }, (_, index) =>
    unique.slice(index * MOST_SIGNAL_TYPES, (index + 1) * MOST_SIGNAL_TYPES),
  );
}

function namesIn(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function known(name: string): KnownSignalType {
  const found = SIGNAL_TYPES.find((type) => type === name);
  if (found !== undefined) return found;
  const meant = nearMiss(name, SIGNAL_TYPES);
  const advice = meant === undefined ? "`npx signalbox register --help` lists them" : `did you mean ${meant}?`;
  throw usageError(`"${echoed(name)}" is no signal type; ${advice}`);
}
