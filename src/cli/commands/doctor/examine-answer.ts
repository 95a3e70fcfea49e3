import type { IncomingHttpHeaders } from "node:http";
import { echoed } from "../../console/printable.js";
import type { Reply, Subject } from "./examination.js";
import type { Failure } from "./examine-connection.js";
import { blocker, ok, type Finding } from "./findings.js";
import { verdictOf } from "./probe.js";

/** Is the program that answers a receiver, and does it come as far as the signature? */
export function examineAnswer({ facts }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const { answer, headers, code } = reply;
  const status = answer.kind === "answer" ? answer.status : 0;
  if (verdictOf(reply) === "unclear") {
    return [faultOfCode(code) ?? faultOfStatus(status, headers)];
  }
  return [
    ok("receiver_answers", `a receiver answers: ${status} ${reply.isVerified ? "challenge" : (code ?? "")}`.trim()),
  ];
}

/** What a code of signalbox says about the set-up of the receiver. */
const FAULTS_BY_CODE: readonly Failure[] = [
  {
    codes: /^body_unavailable$/,
    id: "body_parsed_first",
    found: "a body parser reads the body before the receiver sees it",
    fix: "Mount expressHandler before express.json(), or use express.json({ verify: captureRawBody }).",
  },
  {
    codes: /^store_unavailable$/,
    id: "store_unavailable",
    found: "the receiver was not started, or its store is down",
    fix: "Await receiver.start() and look at the log: it names the cause (disk full, no permission, file in use).",
  },
  {
    codes: /^secret_unavailable$/,
    id: "secret_unavailable",
    found: "the receiver has no secret: there is none in its file, or its `secrets` function throws or returns nothing",
    fix: "Look at the receiver's log, which names the cause. `npx signalbox register` puts the secret into a file.",
  },
  {
    codes: /^(overloaded|ack_timeout|closing)$/,
    id: "receiver_busy",
    found: "the receiver is overloaded or closing, and accepts nothing now",
    fix: "Try again in a while. If it stays so, look at its log and its disk (README, Answer codes).",
  },
  {
    codes: /^encoding_unsupported$/,
    id: "body_compressed",
    found: "the body was sent uncompressed and arrives compressed",
    fix: "Turn off the compression of requests in the proxy.",
  },
  {
    codes: /^body_timeout$/,
    id: "body_cut",
    found: "the body does not arrive whole in time",
    fix: "Look at the proxy before the receiver: it holds the body back.",
  },
  {
    codes: /^body_too_large$/,
    id: "body_cut",
    found: "a body of 200 bytes is too large for the receiver",
    fix: "Raise bodyLimitBytes: 262144 is its default.",
  },
  {
    codes: /^signature_missing$/,
    id: "signature_lost",
    found: "the signature header does not arrive",
    fix: "Let the proxy pass X-Service-Signature on.",
  },
  {
    codes: /^signature_malformed$/,
    id: "signature_changed",
    found: "the signature header arrives in another form",
    fix: "Let the proxy pass X-Service-Signature on once and unchanged.",
  },
];

/** What the status of an answer without a code of signalbox says. The first that fits. */
const FAULTS_BY_STATUS: readonly Failure[] = [
  {
    codes: /^3/,
    id: "redirected",
    found: "the answer is a redirect",
    fix: "Register the address that it leads to: a delivery has to be answered with 2xx where it arrives.",
  },
  {
    codes: /^(404|410)$/,
    id: "path_not_found",
    found: "nothing is mounted on this path",
    fix: "Compare the path with app.use(…), and with what a proxy in front cuts off or adds.",
  },
  {
    codes: /^405$/,
    id: "path_takes_no_post",
    found: "this path exists, but does not take POST",
    fix: "Mount the receiver with app.use(…), and let the proxy pass POST on.",
  },
  {
    codes: /^(401|403|407|429)$/,
    id: "login_required",
    found: "something before the receiver refuses the request (a login, a firewall, a rate limit)",
    fix: "Exempt this path from it: the signature already keeps forgeries out.",
  },
  {
    codes: /^2/,
    id: "challenge_missing",
    found: "the challenge is missing: another program answers on this path",
    fix: "Mount the receiver on this path, before what answers there now; the service verifies a webhook by its challenge.",
  },
  {
    codes: /^(502|503|504|52[0-4])$/,
    id: "gateway_failed",
    found: "a proxy answers, and the receiver behind it does not",
    fix: "Start the receiver, and compare its address with the one that the proxy has.",
  },
  {
    codes: /^/,
    id: "answer_unexpected",
    found: "no receiver of signalbox answers like that",
    fix: "See which program answers on this path: its log has the request. A body parser or a firewall may come first.",
  },
];

export function faultOfCode(code: string | null): Finding | undefined {
  const fault = FAULTS_BY_CODE.find(({ codes }) => code !== null && codes.test(code));
  return fault && blocker(fault.id, fault.found, fault.fix);
}

function faultOfStatus(status: number, headers: IncomingHttpHeaders): Finding {
  const { location } = headers;
  const key = headers["www-authenticate"] === undefined ? String(status) : "401";
  const { id, found, fix } = FAULTS_BY_STATUS.find(({ codes }) => codes.test(key)) as Failure;
  const target = id === "redirected" && location !== undefined ? ` to ${echoed(withoutQuery(location))}` : "";
  return blocker(id, `${status}: ${found}${target}`, fix);
}

/** A query, a user name or a password may be a secret. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
