import type { Delivery } from "../../deliveries/delivery-schema.js";

const ACCEPTED = { status: 200 };
const UNAUTHORIZED = { status: 401 };
const DAY_SECONDS = 24 * 60 * 60;

const event = (text: string): string =>
  `{"id":"evt_{unique}","version":"1","type":"webhook.test","created_at":"2026-11-20T12:00:00.000Z","data":${text}}`;

/** Cases that signalbox's own `replay` has no need of, in the form of `deliveries.json`. */
export const OWN_CASES: readonly Delivery[] = [
  {
    name: "written-with-blanks",
    body: event('{"message":"hello"}').replaceAll('":', '" : ').replaceAll(",", " ,\n  "),
    expect: ACCEPTED,
  },
  { name: "written-with-escapes", body: event('{"message":"\\u0068ello, \\/ caf\\u00e9"}'), expect: ACCEPTED },
  { name: "numbers-written-oddly", body: event('{"message":"hello","n":[1.0,1e2,-0]}'), expect: ACCEPTED },
  { name: "a-day-early", event: "signals/price_increased", skewSeconds: DAY_SECONDS, expect: UNAUTHORIZED },
  { name: "unsigned-verification", event: "events/webhook.verification", header: null, expect: UNAUTHORIZED },
  { name: "old-verification", event: "events/webhook.verification", skewSeconds: -DAY_SECONDS, expect: UNAUTHORIZED },
];
