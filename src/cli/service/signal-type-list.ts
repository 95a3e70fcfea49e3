import { nearMiss } from "../../base/options/option-error.js";
import { SIGNAL_TYPES, type KnownSignalType } from "../../kit/senders/signals/signal-types.js";
import { LIMITS } from "../../service/contract/limits.js";
import { usageError } from "../console/exit.js";
import { echoed } from "../console/terminal.js";

/** The requested types without repetitions, in lists that each fit into one registration. */
export function readSignalTypes({
  types,
  allTypes,
}: {
  types?: string[];
  allTypes?: true;
}): KnownSignalType[][] {
  if (types === undefined && allTypes === undefined) {
    throw usageError(
      "choose signal types: --all-types, or --types price_increased,price_decreased",
    );
  }
  const names = types
    ?.flatMap((list) => list.split(",").map((name) => name.trim()))
    .filter((name) => name !== "");
  const unique = [...new Set(names?.map(known) ?? SIGNAL_TYPES)];
  if (unique.length === 0)
    throw usageError(
      "--types is empty: name signal types, such as --types price_increased,new_model",
    );
  const most = LIMITS.typesPerRegistration;
  return Array.from({ length: Math.ceil(unique.length / most) }, (_, index) =>
    unique.slice(index * most, (index + 1) * most),
  );
}

function known(name: string): KnownSignalType {
  const found = SIGNAL_TYPES.find((type) => type === name);
  if (found !== undefined) return found;
  const meant = nearMiss(name, SIGNAL_TYPES);
  const advice =
    meant === undefined
      ? "`npx signalbox register --help` lists all signal types"
      : `did you mean ${meant}?`;
  throw usageError(`"${echoed(name)}" is not a signal type; ${advice}`);
}
