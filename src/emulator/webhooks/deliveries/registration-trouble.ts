import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import type { EmulatorCore } from "../../instance/core.js";
import type { RegistrationRow } from "../registrations/registration-row.js";
import type { RequestOutcome } from "../transport/send-request.js";
import type { SettleDelivery } from "./settle-delivery.js";

/** A registration that a person has to do something about. */
export interface RegistrationTrouble {
  /** `paused`: it failed too often. `time_refused`: it refuses what is signed in a time that was moved. */
  kind: "paused" | "time_refused";
  registration_id: string;
  /** Without its query, which may hold a secret. */
  endpoint: string;
  failure_count: number;
  /** Its last answer's status, or why there was none. */
  last: number | string;
  /** How far the time of its signatures is ahead of the machine's. */
  ahead_seconds: number;
}

interface Watching {
  /** The time of signatures, and the machine's, in milliseconds since 1970. */
  signingTime: () => number;
  machineNow: () => number;
  onTrouble: (trouble: RegistrationTrouble) => void;
  /** Told of what `onTrouble` throws. */
  onFailure: (error: unknown) => void;
}

/** Tells of a registration when it becomes paused, and once when it seems to refuse the time of its signatures. */
export function watchSettlements(
  { database }: Pick<EmulatorCore, "database">,
  settle: SettleDelivery,
  { signingTime, machineNow, onTrouble, onFailure }: Watching,
): SettleDelivery {
  const find = database.prepare<[string], Pick<RegistrationRow, "status" | "url" | "failure_count">>(
    "SELECT status, url, failure_count FROM registration WHERE registration_id = ?",
  );
  const told = new Set<string>();

  // What came of the delivery is written down by now: who cannot be told does not hold up the next one.
  function tell(trouble: RegistrationTrouble): void {
    try {
      onTrouble(trouble);
    } catch (error) {
      onFailure(error);
    }
  }

  return (delivery, carried) => {
    const { registration_id } = delivery;
    const before = find.get(registration_id);
    settle(delivery, carried);
    const after = find.get(registration_id);
    if (before === undefined || after === undefined) return;
    const last = lastOf(carried.outcome);
    const ahead_seconds = Math.round((signingTime() - machineNow()) / 1000);
    const { origin, pathname } = new URL(after.url);
    const facts = {
      registration_id,
      endpoint: origin + pathname,
      failure_count: after.failure_count,
      last,
      ahead_seconds,
    };
    const isRefused = typeof last === "number" && last >= 400 && last <= 499;
    if (isRefused && isFarOff(ahead_seconds) && !told.has(registration_id)) {
      told.add(registration_id);
      tell({ kind: "time_refused", ...facts });
    }
    if (before.status === "active" && after.status === "paused") tell({ kind: "paused", ...facts });
  };
}

/** Whether a receiver by the machine's clock refuses what is signed in a time so far from it. */
export const isFarOff = (aheadSeconds: number): boolean => Math.abs(aheadSeconds) > DEFAULT_TOLERANCE_SECONDS;

const lastOf = (outcome: RequestOutcome): number | string => ("failure" in outcome ? outcome.failure : outcome.status);
