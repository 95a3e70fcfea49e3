import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { checkBounds } from "./age-bounds.js";
import type { Check } from "./check.js";
import { checkAcceptedOnce, checkRestart, checkSimultaneous } from "./duplicates.js";

/** What the service's document demands: "Signature and receiving rules", and the handshake. */
export const REQUIRED_CHECKS: readonly Check[] = [
  {
    id: "events.signals",
    kind: "required",
    title: "A signal of each type is acknowledged.",
    hint:
      "Answer 2xx to every authentic signal. If all of them are refused, compare the secret, whole and untrimmed, and " +
      "compute the signature over the bytes as they came, before any parser.",
    cases: [["accepted", "new-signal", "new-signal-multibyte", ...SIGNAL_TYPES.map((type) => `signals/${type}`)]],
  },
  {
    id: "events.test",
    kind: "required",
    title: "A test event is acknowledged.",
    hint: "Answer 2xx to webhook.test as to a signal, with nothing done.",
    cases: [["accepted", "test-event", "events/webhook.test"]],
  },
  {
    id: "events.unknown-type",
    kind: "required",
    title: "An event of a type that is not known yet is acknowledged.",
    hint:
      "Give the switch over event types a default branch that keeps the event and answers 2xx, and look handlers up in a " +
      "map: an object finds `constructor`. Sending it again would not mend it.",
    cases: [["accepted", "unknown-event-type", "event-type-constructor", "event-type-proto"]],
  },
  {
    id: "events.open-values",
    kind: "required",
    title: "Signal types, directions, units and fields that are not known yet are acknowledged.",
    hint: "Do not check signal_type, change.direction or units against a closed list, and ignore fields you do not know.",
    cases: [
      [
        "accepted",
        "unknown-signal-type",
        "signal-type-constructor",
        "unknown-direction-and-units",
        "extra-fields",
        "proto-field",
      ],
    ],
  },
  {
    id: "signature.missing",
    kind: "required",
    title: "A delivery without a signature is refused.",
    hint: "Answer 401 when X-Service-Signature is not there, before you look at the body.",
    cases: [["refused", "signature-missing", "signature-missing-not-json"]],
  },
  {
    id: "signature.forged",
    kind: "required",
    title: "A signature that the secret does not make of these bytes is refused.",
    hint:
      "Compute HMAC-SHA256 over t, a dot and the body's bytes with the whole secret, compare all 64 digits in constant " +
      "time, and answer 401 when they differ.",
    cases: [
      [
        "refused",
        "wrong-secret",
        "wrong-secret-not-json",
        "all-zero-digest",
        "byte-changed",
        "truncated",
        "emptied",
        "too-old-and-forged",
      ],
    ],
  },
  {
    id: "signature.unreadable",
    kind: "required",
    title: "A header that holds no time or no digest is refused.",
    hint: "Match the header as a whole against t=<1 to 12 digits>,v1=<64 lowercase hex digits>, and answer 401 to all else.",
    after: ["signature.forged"],
    cases: [
      [
        "refused",
        "milliseconds",
        "63-hex-digits",
        "not-hex",
        "negative-t",
        "exponent-t",
        "word-for-t",
        "empty-t",
        "missing-t",
        "missing-v1",
        "bare-digest",
        "prefixed-digest",
      ],
    ],
  },
  {
    id: "signature.raw-bytes",
    kind: "required",
    title: "The signature is over the bytes as they came, not over JSON that was parsed and written again.",
    after: ["signature.forged"],
    hint: "Take the raw body before any parser (express.raw, request.get_data(), the stream itself), and sign that.",
    cases: [
      ["accepted", "written-with-blanks", "written-with-escapes", "numbers-written-oddly", "blanks-around"],
      ["refused", "reserialised", "newline-appended"],
    ],
  },
  {
    id: "age.past",
    kind: "required",
    title: "A signature of 298 s ago is accepted; one of 302 s, or of yesterday, is refused.",
    hint: "Refuse when now - t is more than 300 s, with t of the signed header and a clock that is set by NTP.",
    cases: [
      ["accepted", "almost-too-old"],
      ["refused", "too-old", "a-day-old"],
    ],
  },
  {
    id: "age.future",
    kind: "required",
    title: "A signature from 298 s ahead is accepted; one from 302 s, or from tomorrow, is refused.",
    hint: "Compare the absolute difference: the document refuses a t that differs by more than 300 s in either direction.",
    cases: [
      ["accepted", "almost-too-early"],
      ["refused", "too-early", "a-day-early"],
    ],
  },
  {
    id: "age.bounds",
    kind: "required",
    title: "The tolerance is 300 s to the second: -299, +299 and +300 s pass, -301 and +301 s do not.",
    hint: "Refuse when |now - t| > 300, not >= 300 and not > 301; t and now in seconds.",
    after: ["age.past", "age.future"],
    run: (context) =>
      checkBounds(
        [
          [-301, "refused"],
          [-299, "accepted"],
          [299, "accepted"],
          [300, "accepted"],
          [301, "refused"],
        ],
        context,
      ),
  },
  {
    id: "handshake.challenge",
    kind: "required",
    title: "A verification is answered with its challenge, each time and unchanged.",
    hint: 'Answer webhook.verification with 2xx and the JSON {"challenge": data.challenge}, also when the id is known already.',
    cases: [
      [
        "challenge",
        "verification",
        "repeated-verification",
        "verification-odd-challenge",
        "events/webhook.verification",
      ],
    ],
  },
  {
    id: "handshake.signed",
    kind: "required",
    title: "A verification that is not signed, or not rightly or lately, gets no challenge.",
    hint: "Verify the signature before you look at the type: else anybody can register your address as theirs.",
    after: ["signature.missing", "signature.forged", "age.past"],
    cases: [["refused", "unsigned-verification", "wrong-secret-verification", "old-verification"]],
  },
  {
    id: "dedupe.acknowledged",
    kind: "required",
    title: "An event that comes again is acknowledged again.",
    hint: "Answer 2xx to an id that is known: an error tells the sender that it failed, and to send it once more.",
    cases: [["accepted", "repeated-signal", "repeated-test-event"]],
  },
  {
    id: "dedupe.once",
    kind: "required",
    title: "An event that comes three times is accepted once.",
    hint: "Keep the ids that you accepted, in a table with a unique key, and do nothing for one that is there.",
    run: checkAcceptedOnce,
  },
  {
    id: "dedupe.simultaneous",
    kind: "required",
    title: "Of 20 simultaneous duplicates one is accepted, and all are acknowledged.",
    hint:
      "Let the database decide: insert the id under a unique constraint (on conflict do nothing) and look at what was " +
      "inserted. To look first and insert after lets two through.",
    after: ["dedupe.acknowledged", "dedupe.once"],
    run: checkSimultaneous,
  },
  {
    id: "dedupe.restart",
    kind: "required",
    title: "After a restart an event from before it is still known.",
    hint: "Keep the ids on disk, and have them there before you answer: memory is gone with the process.",
    after: ["dedupe.acknowledged", "dedupe.once"],
    run: checkRestart,
  },
];
