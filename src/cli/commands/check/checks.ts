import { SIGNAL_TYPES } from "../../../events/signal-types.js";
import { checkBounds } from "./age-bounds.js";
import { checkAnswerTimes, checkManner, MANNERS } from "./answers.js";
import type { Check } from "./check.js";
import { checkAcceptedOnce, checkDuplicatesMarked, checkRestart, checkSimultaneous } from "./duplicates.js";

const ACCEPTED = { status: 200 };
const REFUSED = { status: 401 };
const VERIFICATION = "events/webhook.verification";
const DAY_SECONDS = 24 * 60 * 60;

const testEvent = (data: string): string =>
  `{"id":"evt_{unique}","version":"1","type":"webhook.test","created_at":"2026-11-20T12:00:00.000Z","data":${data}}`;

/** What the service's document demands: "Signature and receiving rules", and the handshake. */
const REQUIRED: readonly Omit<Check, "kind">[] = [
  {
    id: "events.signals",
    title: "A signal of each type is acknowledged.",
    hint:
      "Answer 2xx to every authentic signal. If all of them are refused, compare the secret, whole and untrimmed, and " +
      "compute the signature over the bytes as they came, before any parser.",
    cases: ["new-signal", "new-signal-multibyte", ...SIGNAL_TYPES.map((type) => `signals/${type}`)],
  },
  {
    id: "events.test",
    title: "A test event is acknowledged.",
    hint: "Answer 2xx to webhook.test as to a signal, with nothing done.",
    cases: ["test-event", "events/webhook.test"],
  },
  {
    id: "events.unknown-type",
    title: "An event of a type that is not known yet is acknowledged.",
    hint:
      "Give the switch over event types a default branch that keeps the event and answers 2xx, and look handlers up in a " +
      "map: an object finds `constructor`. Sending it again would not help.",
    cases: ["unknown-event-type", "event-type-constructor", "event-type-proto"],
  },
  {
    id: "events.open-values",
    title: "Signal types, directions, units and fields that are not known yet are acknowledged.",
    hint: "Do not check signal_type, change.direction or units against a closed list, and ignore fields you do not know.",
    cases: [
      "unknown-signal-type",
      "signal-type-constructor",
      "unknown-direction-and-units",
      "extra-fields",
      "proto-field",
    ],
  },
  {
    id: "signature.missing",
    title: "A delivery without a signature is refused.",
    hint: "Answer 401 when X-Service-Signature is not there, before you look at the body.",
    cases: ["signature-missing", "signature-missing-not-json"],
  },
  {
    id: "signature.forged",
    title: "A signature that the secret does not make of these bytes is refused.",
    hint:
      "Compute HMAC-SHA256 over t, a dot and the body's bytes with the whole secret, compare all 64 digits in constant " +
      "time, and answer 401 when they differ.",
    cases: [
      "wrong-secret",
      "wrong-secret-not-json",
      "all-zero-digest",
      "byte-changed",
      "truncated",
      "emptied",
      "too-old-and-forged",
    ],
  },
  {
    id: "signature.unreadable",
    title: "A header that holds no time or no digest is refused.",
    hint: "Match the header as a whole against t=<1 to 12 digits>,v1=<64 lowercase hex digits>, and answer 401 to all else.",
    after: ["signature.forged"],
    cases: [
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
  },
  {
    id: "signature.raw-bytes",
    title: "The signature is over the bytes that arrived, not over JSON that was parsed and written again.",
    after: ["signature.forged"],
    hint: "Take the raw body before any parser (express.raw, request.get_data(), the stream itself), and sign that.",
    cases: [
      {
        name: "written-with-blanks",
        body: testEvent('{"message":"hello"}').replaceAll('":', '" : ').replaceAll(",", " ,\n  "),
        expect: ACCEPTED,
      },
      {
        name: "written-with-escapes",
        body: testEvent('{"message":"\\u0068ello, \\/ caf\\u00e9"}'),
        expect: ACCEPTED,
      },
      { name: "numbers-written-oddly", body: testEvent('{"message":"hello","n":[1.0,1e2,-0]}'), expect: ACCEPTED },
      "blanks-around",
      "reserialised",
      "newline-appended",
    ],
  },
  {
    id: "age.past",
    title: "A signature of 298 s ago is accepted; one of 302 s, or of yesterday, is refused.",
    hint: "Refuse when now - t is more than 300 s, with t of the signed header and a clock that is set by NTP.",
    cases: ["almost-too-old", "too-old", "a-day-old"],
  },
  {
    id: "age.future",
    title: "A signature from 298 s ahead is accepted; one from 302 s, or from tomorrow, is refused.",
    hint: "Compare the absolute difference: the document refuses a t that differs by more than 300 s in either direction.",
    cases: [
      "almost-too-early",
      "too-early",
      { name: "a-day-early", event: "signals/price_increased", skewSeconds: DAY_SECONDS, expect: REFUSED },
    ],
  },
  {
    id: "age.bounds",
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
    title: "A verification is answered with its challenge, each time and unchanged.",
    hint: 'Answer webhook.verification with 2xx and the JSON {"challenge": data.challenge}, also when the id is known already.',
    cases: ["verification", "repeated-verification", "verification-odd-challenge", "events/webhook.verification"],
  },
  {
    id: "handshake.signed",
    title: "A verification without a signature, or with a wrong or old one, gets no challenge.",
    hint: "Verify the signature before you look at the type: otherwise anyone can register your address as theirs.",
    after: ["signature.missing", "signature.forged", "age.past"],
    cases: [
      { name: "unsigned-verification", event: VERIFICATION, header: null, expect: REFUSED },
      "wrong-secret-verification",
      { name: "old-verification", event: VERIFICATION, skewSeconds: -DAY_SECONDS, expect: REFUSED },
    ],
  },
  {
    id: "dedupe.acknowledged",
    title: "An event that comes again is acknowledged again.",
    hint: "Answer 2xx to an id that is known: after an error the sender counts a failure, and sends it again.",
    cases: ["repeated-signal", "repeated-test-event"],
  },
  {
    id: "dedupe.once",
    title: "An event that comes three times is accepted once.",
    hint: "Keep the ids that you accepted, in a table with a unique key, and do nothing for one that is there.",
    run: checkAcceptedOnce,
  },
  {
    id: "dedupe.simultaneous",
    title: "Of 20 simultaneous duplicates one is accepted, and all are acknowledged.",
    hint:
      "Let the database decide: insert the id under a unique constraint (on conflict do nothing) and look at what was " +
      "inserted. A look-up before the insert lets two through. Where connections are refused, reset or left without an answer, " +
      "raise the server's backlog (its queue of new connections) or its workers first.",
    after: ["dedupe.acknowledged", "dedupe.once"],
    run: checkSimultaneous,
  },
  {
    id: "dedupe.restart",
    title: "After a restart an event from before it is still known.",
    hint: "Keep the ids on disk, and have them there before you answer: memory is gone with the process.",
    after: ["dedupe.acknowledged", "dedupe.once"],
    run: checkRestart,
  },
];

/** What the service's document leaves open, and signalbox does itself. */
const ADVISED: readonly Omit<Check, "kind">[] = [
  {
    id: "events.json-forms",
    title: "A byte order mark before the JSON, and escapes of half a character, are acknowledged.",
    hint: "Skip a byte order mark when you parse, and keep the bytes: not every database holds such text.",
    cases: ["byte-order-mark", "escaped-nul-and-surrogate"],
  },
  {
    id: "signature.form",
    title: "A header of any other form than the documented one is refused, though its digest is right.",
    hint: "Match the header as a whole, and refuse it when it comes twice: a lenient parser is a way round the check.",
    cases: [
      "two-v1",
      "right-v1-after-wrong-v1",
      "two-t",
      "header-twice",
      "upper-case-hex",
      "blank-after-comma",
      "blank-around-equals",
      "v0-only",
      "additional-scheme",
      "65-hex-digits",
      "swapped-order",
      "trailing-comma",
      "plus-t",
      "fractional-t",
      "capital-keys",
      "leading-zero-t",
    ],
  },
  {
    id: "age.exactly-300-old",
    title: "A signature of exactly 300 s ago is accepted.",
    hint:
      "Compare whole seconds. With fractions of a second 300 s ago is always a little more, which the document lets you " +
      "refuse.",
    after: ["age.past"],
    run: (context) => checkBounds([[-300, "accepted"]], context),
  },
  {
    id: "dedupe.conflict",
    title: "Another body under a known id is acknowledged as a duplicate.",
    hint: "Keep the first body, answer 2xx, and log it: an error makes the sender try again for nothing.",
    cases: ["same-id-other-body"],
  },
  {
    id: "dedupe.told",
    title: "The answer says whether the event was known already.",
    hint: 'Add "duplicate": true to the answer for a known id: it costs nothing and shows what the receiver does.',
    run: checkDuplicatesMarked,
  },
  {
    id: "bodies.unusable",
    title: "An event that is authentic but unusable is kept and acknowledged.",
    hint:
      "Keep the bytes where a person finds them and answer 2xx: a 4xx or 5xx counts as a failure of your webhook, and " +
      "sending it again cannot help.",
    cases: [
      "not-json",
      "cut-off-json",
      "text-after-json",
      "json-array",
      "json-null",
      "signed-empty-body",
      "missing-id",
      "id-is-a-number",
      "empty-id",
      "id-too-long",
      "missing-type",
      "other-version",
      "missing-challenge",
      "challenge-is-an-object",
      "signal-data-is-text",
      "signal-without-product",
      "signal-change-is-text",
      "latin-1",
      "encoded-surrogate",
      "utf-16",
    ],
  },
  {
    id: "bodies.chunked",
    title: "A body in chunks, without a Content-Length, is acknowledged.",
    hint: "Read chunked bodies: the document does not say how the service sends, and a proxy may change it.",
    cases: ["new-signal-chunked", "exactly-the-limit-chunked"],
  },
  {
    id: "bodies.large",
    title: "A body of 256 KiB is acknowledged.",
    hint: "Raise the limit of the parser or the proxy (the default of express.json is 100 kB).",
    cases: ["exactly-the-limit"],
  },
  {
    id: "bodies.limit",
    title: "A body of more than 256 KiB is refused with 413, signed or not.",
    hint: "Stop reading at a limit: without one, anyone can fill your memory without a signature.",
    cases: ["one-byte-too-many", "one-byte-too-many-chunked", "too-many-bytes-unsigned"],
  },
  {
    id: "bodies.compressed",
    title: "A compressed body is refused with 415.",
    hint: "Do not inflate: the signature is over the bytes as sent, and a small body can inflate to a huge one.",
    cases: ["gzip", "gzip-unsigned"],
  },
  {
    id: "methods.other",
    title: "Methods other than POST get 405.",
    hint: "Answer 405 with Allow: POST; the service sends only POST.",
    cases: ["get", "put", "delete", "options"],
  },
  {
    id: "answers.unauthorized",
    title: "A delivery with a bad signature is refused with 401.",
    hint: "Verify before you parse: a 400 for a forged body shows that it was parsed first.",
    run: (context) => checkManner(MANNERS.unauthorized, context),
  },
  {
    id: "answers.json",
    title: "An answer says that it is JSON.",
    hint: "Set Content-Type: application/json.",
    run: (context) => checkManner(MANNERS.json, context),
  },
  {
    id: "answers.time",
    title: "Acknowledgements come within --ack-limit.",
    hint: "Store the event, answer, and do the work afterwards. The document names no time-out; signalbox gives itself 3 s.",
    run: checkAnswerTimes,
  },
];

/** All checks, in the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...REQUIRED.map((check) => ({ ...check, kind: "required" }) as const),
  ...ADVISED.map((check) => ({ ...check, kind: "advised" }) as const),
];
