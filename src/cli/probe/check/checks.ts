import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { LIMITS } from "../../../service/contract/limits.js";
import type { Check } from "./check-context.js";
import {
  checkAcceptedOnce,
  checkAnswerTimes,
  checkContentType,
  checkDuplicatesMarked,
  checkRestart,
  checkSimultaneous,
  checkUnauthorized,
} from "./observations.js";

/** The document's tolerance, which every check of the age is about. */
const AGE = LIMITS.signatureAgeSeconds;

/**
 * The rules that the service's document requires: "Signature and receiving rules", and the
 * handshake.
 */
const REQUIRED: readonly Omit<Check, "kind">[] = [
  {
    id: "events.signals",
    title: "A signal of each type is acknowledged.",
    hint:
      "Answer 2xx to every authentic signal. If all of them are refused, compare the whole secret, untrimmed, and " +
      "compute the signature over the raw bytes, before any parser.",
    events: SIGNAL_TYPES.map((type) => `signals/${type}`),
  },
  {
    id: "events.test",
    title: "A test event is acknowledged.",
    hint: "Answer 2xx to webhook.test, and do nothing else.",
    events: ["events/webhook.test"],
  },
  {
    id: "events.unknown-type",
    title: "An event of an unknown type is acknowledged.",
    hint:
      "Keep an event of an unknown type and answer 2xx, because a retry would not help. Look handlers up in a Map: " +
      "every object has a property `constructor`.",
  },
  {
    id: "events.open-values",
    title: "Unknown signal types, directions, units and fields are acknowledged.",
    hint: "Do not check signal_type, change.direction or units against a closed list, and ignore unknown fields.",
  },
  {
    id: "signature.missing",
    title: "A delivery without a signature is refused.",
    hint: "Answer 401 when X-Service-Signature is missing, before you read the body.",
  },
  {
    id: "signature.forged",
    title: "A signature that does not match the secret and the bytes is refused.",
    hint:
      "Compute HMAC-SHA256 over t, a dot and the body's bytes with the whole secret, compare all 64 digits in constant " +
      "time, and answer 401 when they differ.",
  },
  {
    id: "signature.unreadable",
    title: "A header without a timestamp or a digest is refused.",
    hint: "Match the header as a whole against t=<1 to 12 digits>,v1=<64 lowercase hex digits>, and answer 401 otherwise.",
    needs: ["signature.forged"],
  },
  {
    id: "signature.raw-bytes",
    title:
      "The signature is verified over the raw bytes, not over JSON that was parsed and written again.",
    needs: ["signature.forged"],
    hint: "Read the raw body before any parser (express.raw, request.get_data(), the stream itself), and verify that.",
  },
  {
    id: "age.past",
    title: `A signature of ${AGE - 2} s ago is accepted; one of ${AGE + 2} s, or of yesterday, is refused.`,
    hint: `Refuse when now - t is more than ${AGE} s. Set the clock by NTP.`,
  },
  {
    id: "age.future",
    title: `A signature of ${AGE - 2} s in the future is accepted; one of ${AGE + 2} s, or of tomorrow, is refused.`,
    hint: `Compare the absolute difference: the document refuses a t that differs by more than ${AGE} s in either direction.`,
  },
  {
    id: "handshake.challenge",
    title: "A verification is answered with its challenge, each time and unchanged.",
    hint: 'Answer webhook.verification with 2xx and the JSON {"challenge": data.challenge}, even if the id is known.',
    events: ["events/webhook.verification"],
  },
  {
    id: "handshake.signed",
    title: "A verification without a signature, or with a wrong or old one, gets no challenge.",
    hint: "Verify the signature before you read the type: otherwise anyone can register your address as theirs.",
    needs: ["signature.missing", "signature.forged", "age.past"],
  },
  {
    id: "dedupe.acknowledged",
    title: "A repeated event is acknowledged again.",
    hint: "Answer 2xx to a known id: after an error the service counts a failure and sends the event again.",
  },
  {
    id: "dedupe.once",
    title: "An event that is sent three times is accepted once.",
    hint: "Store the accepted ids in a table with a unique key, and ignore an event whose id is stored.",
    run: checkAcceptedOnce,
  },
  {
    id: "dedupe.simultaneous",
    title: "Of 20 simultaneous duplicates one is accepted, and all are acknowledged.",
    hint:
      "Insert the id under a unique constraint (on conflict do nothing), and check whether a row was inserted. A look-up " +
      "before the insert lets duplicates through. If connections are refused, reset or not answered, raise the server's " +
      "backlog (its queue of new connections) or its number of workers.",
    needs: ["dedupe.acknowledged", "dedupe.once"],
    run: checkSimultaneous,
  },
  {
    id: "dedupe.restart",
    title: "An event is still known after a restart.",
    hint: "Write the ids to disk before you answer: memory is lost with the process.",
    needs: ["dedupe.acknowledged", "dedupe.once"],
    run: checkRestart,
  },
];

/** Behaviour that the service's document does not define, but that signalbox's receiver has. */
const ADVISED: readonly Omit<Check, "kind">[] = [
  {
    id: "events.json-forms",
    title:
      "A byte order mark in front of the JSON, and an escape of an unpaired surrogate, are acknowledged.",
    hint: "Skip a byte order mark when you parse, and store the bytes: some databases cannot store such text.",
  },
  {
    id: "signature.form",
    title:
      "A header that does not have the documented form is refused, even if its digest is correct.",
    hint: "Match the header as a whole, and refuse two headers: with a lenient parser the check can be bypassed.",
  },
  {
    id: "dedupe.conflict",
    title: "Another body under a known id is acknowledged as a duplicate.",
    hint: "Keep the first body, log the conflict and answer 2xx: after an error the service would only send the event again.",
  },
  {
    id: "dedupe.told",
    title: "The answer says whether the event was already known.",
    hint: 'Add "duplicate": true to the answer for a known id. It shows that the receiver recognizes duplicates.',
    run: checkDuplicatesMarked,
  },
  {
    id: "bodies.unusable",
    title: "An authentic but unusable event is acknowledged.",
    hint:
      "Store the bytes for a person to look at, and answer 2xx: a 4xx or 5xx counts as a failure of your webhook, and a " +
      "retry cannot help.",
  },
  {
    id: "bodies.chunked",
    title: "A body in chunks, without a Content-Length, is acknowledged.",
    hint: "Read chunked bodies: the document does not define how the service sends bodies, and a proxy can change that.",
  },
  {
    id: "bodies.large",
    title: "A body of 256 KiB is acknowledged.",
    hint: "Raise the limit of the parser or the proxy (the default of express.json is 100 kB).",
  },
  {
    id: "bodies.limit",
    title: "A body of more than 256 KiB is refused, signed or not.",
    hint: "Stop reading at a limit: otherwise anyone can fill your memory, even without a signature.",
  },
  {
    id: "bodies.compressed",
    title: "A compressed body is refused with 415.",
    hint: "Do not inflate: the signature is over the bytes as sent, and a small body can inflate to gigabytes.",
  },
  {
    id: "methods.other",
    title: "Methods other than POST get 405.",
    hint: "Answer 405 with Allow: POST; the service sends only POST.",
  },
  {
    id: "answers.unauthorized",
    title: "A delivery with a bad signature is refused with 401.",
    hint: "Verify before you parse: a 400 for a forged body shows that the body was parsed first.",
    run: checkUnauthorized,
  },
  {
    id: "answers.json",
    title: "An answer with a body has the content type of JSON.",
    hint: "Set Content-Type: application/json.",
    run: checkContentType,
  },
  {
    id: "answers.time",
    title: "Acknowledgements take at most --ack-limit.",
    hint: "Store the event, answer, and do the work afterwards. The document does not define a time-out; signalbox uses 3 s.",
    run: checkAnswerTimes,
  },
];

export const CHECKS: readonly Check[] = [
  ...REQUIRED.map((check) => ({ ...check, kind: "required" }) as const),
  ...ADVISED.map((check) => ({ ...check, kind: "advised" }) as const),
];
