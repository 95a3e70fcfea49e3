import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { LIMITS } from "../../../service/contract/limits.js";
import { filled } from "../../deliveries/explain-answer.js";
import type { Check } from "./check-context.js";
import ROWS from "./checks.json" with { type: "json" };
import {
  checkAcceptedOnce,
  checkAnswerTimes,
  checkContentType,
  checkDuplicatesMarked,
  checkRestart,
  checkSimultaneous,
  checkUnauthorized,
} from "./observations.js";

/** The document's tolerance, and ages that it accepts and refuses. */
const { signatureAgeSeconds: age } = LIMITS;
const AGES = { age, within: age - 2, beyond: age + 2 };

/** What a row cannot say. */
const ADDED: Readonly<Record<string, Pick<Check, "events" | "run">>> = {
  "events.signals": { events: SIGNAL_TYPES.map((type) => `signals/${type}`) },
  "dedupe.once": { run: checkAcceptedOnce },
  "dedupe.simultaneous": { run: checkSimultaneous },
  "dedupe.restart": { run: checkRestart },
  "dedupe.told": { run: checkDuplicatesMarked },
  "answers.unauthorized": { run: checkUnauthorized },
  "answers.json": { run: checkContentType },
  "answers.time": { run: checkAnswerTimes },
};

/**
 * First the rules that the service's document requires: "Signature and receiving rules", and the
 * handshake. Then behaviour that it does not define, but that signalbox's receiver has.
 */
export const CHECKS: readonly Check[] = ROWS.map((row) => ({
  ...row,
  kind: row.kind as Check["kind"],
  title: filled(row.title, AGES),
  hint: filled(row.hint, AGES),
  ...ADDED[row.id],
}));
