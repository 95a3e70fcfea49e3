import type { IncomingHttpHeaders } from "node:http";
import { echoed } from "../../console/printable.js";
import { blocker, type Finding } from "./finding.js";
import type { FindingId } from "./finding-ids.js";

type Fault = readonly [id: FindingId, found: string, mend: string];

const BUSY: Fault = [
  "receiver_busy",
  "the receiver is overloaded or closing, and took nothing",
  "Try again in a while. If it stays so, look at its log and its disk (README, Answer codes).",
];

/** What a code of the receiver's says of its set-up. A Map: the code comes from outside. */
export const CODE_FAULTS: ReadonlyMap<string, Fault> = new Map([
  [
    "body_unavailable",
    [
      "body_parsed_first",
      "a body parser reads the body before the receiver sees it",
      "Mount expressHandler before express.json(), or use express.json({ verify: captureRawBody }).",
    ],
  ],
  [
    "store_unavailable",
    [
      "store_unavailable",
      "the receiver was not started, or its store is down",
      "Await receiver.start() and look at the log: it names the cause (disk full, no permission, file in use).",
    ],
  ],
  [
    "secret_unavailable",
    [
      "secret_unavailable",
      "the receiver has no secret: there is none in its file, or its `secrets` function throws or gives nothing",
      "Look at the receiver's log, which names the cause. `npx signalbox register` puts the secret into a file.",
    ],
  ],
  ["overloaded", BUSY],
  ["ack_timeout", BUSY],
  ["closing", BUSY],
  [
    "encoding_unsupported",
    [
      "body_compressed",
      "the body arrives compressed, and left here as it is",
      "Turn off the compression of requests in the proxy.",
    ],
  ],
  [
    "body_timeout",
    ["body_cut", "the body does not arrive whole in time", "Look at the proxy between: it holds the body back."],
  ],
  [
    "body_too_large",
    ["body_cut", "a body of 200 bytes is too large for the receiver", "Raise bodyLimitBytes: 262144 is its default."],
  ],
  [
    "signature_missing",
    ["signature_lost", "the signature header does not arrive", "Let the proxy pass X-Service-Signature on."],
  ],
  [
    "signature_malformed",
    [
      "signature_changed",
      "the signature header arrives in another form",
      "Let the proxy pass X-Service-Signature on once and unchanged.",
    ],
  ],
]);

interface StatusFault {
  fits: (status: number, headers: IncomingHttpHeaders) => boolean;
  fault: (status: number, headers: IncomingHttpHeaders) => Fault;
}

/** What the status of an answer without a code of ours says. The first that fits. */
const STATUS_FAULTS: readonly StatusFault[] = [
  {
    fits: (status) => status >= 300 && status < 400,
    fault: (status, { location }) => [
      "redirected",
      `${status}: the answer is a redirect${location === undefined ? "" : ` to ${echoed(withoutQuery(location))}`}`,
      "Register the address that it leads to: a delivery has to be answered with 2xx where it arrives.",
    ],
  },
  {
    fits: (status) => status === 404 || status === 410,
    fault: (status) => [
      "path_not_found",
      `${status}: nothing is mounted on this path`,
      "Compare the path with app.use(…), and with what a proxy in front cuts off or adds.",
    ],
  },
  {
    fits: (status) => status === 405,
    fault: (status) => [
      "path_takes_no_post",
      `${status}: this path is there, and takes no POST`,
      "Mount the receiver with app.use(…), and let the proxy pass POST on.",
    ],
  },
  {
    fits: (status, headers) => [401, 403, 407, 429].includes(status) || headers["www-authenticate"] !== undefined,
    fault: (status) => [
      "login_required",
      `${status}: something before the receiver refuses the request (a login, a firewall, a rate limit)`,
      "Leave this path out of it: the signature is what keeps others out.",
    ],
  },
  {
    fits: (status) => status >= 200 && status < 300,
    fault: (status) => [
      "challenge_missing",
      `${status} without the challenge: another program answers on this path`,
      "Mount the receiver on this path, before what answers there now; the service verifies a webhook by its challenge.",
    ],
  },
  {
    fits: (status) => [502, 503, 504, 520, 521, 522, 523, 524].includes(status),
    fault: (status) => [
      "gateway_failed",
      `${status}: a proxy answers, and the receiver behind it does not`,
      "Start the receiver, and compare its address with the one that the proxy has.",
    ],
  },
];

const OTHER: StatusFault["fault"] = (status) => [
  "answer_unexpected",
  `${status}: no receiver of signalbox answers like that`,
  "See which program answers on this path: its log has the request. A body parser or a firewall may come first.",
];

export function faultOfStatus(status: number, headers: IncomingHttpHeaders): Finding {
  const { fault } = STATUS_FAULTS.find(({ fits }) => fits(status, headers)) ?? { fault: OTHER };
  return blocker(...fault(status, headers));
}

/** A query may hold what is nobody's business. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
