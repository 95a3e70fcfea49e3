import type { IncomingHttpHeaders } from "node:http";
import { echoed } from "../../console/printable.js";
import type { Reply, Subject } from "./examination.js";
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
export function faultOfCode(code: string | null): Finding | undefined {
  switch (code ?? "") {
    case "body_unavailable":
      return blocker(
        "body_parsed_first",
        "a body parser reads the body before the receiver sees it",
        "Mount expressHandler before express.json(), or use express.json({ verify: captureRawBody }).",
      );
    case "store_unavailable":
      return blocker(
        "store_unavailable",
        "the receiver was not started, or its store is down",
        "Await receiver.start() and look at the log: it names the cause (disk full, no permission, file in use).",
      );
    case "secret_unavailable":
      return blocker(
        "secret_unavailable",
        "the receiver has no secret: there is none in its file, or its `secrets` function throws or returns nothing",
        "Look at the receiver's log, which names the cause. `npx signalbox register` puts the secret into a file.",
      );
    case "overloaded":
    case "ack_timeout":
    case "closing":
      return blocker(
        "receiver_busy",
        "the receiver is overloaded or closing, and accepts nothing now",
        "Try again in a while. If it stays so, look at its log and its disk (README, Answer codes).",
      );
    case "encoding_unsupported":
      return blocker(
        "body_compressed",
        "the body was sent uncompressed and arrives compressed",
        "Turn off the compression of requests in the proxy.",
      );
    case "body_timeout":
      return blocker(
        "body_cut",
        "the body does not arrive whole in time",
        "Look at the proxy before the receiver: it holds the body back.",
      );
    case "body_too_large":
      return blocker(
        "body_cut",
        "a body of 200 bytes is too large for the receiver",
        "Raise bodyLimitBytes: 262144 is its default.",
      );
    case "signature_missing":
      return blocker(
        "signature_lost",
        "the signature header does not arrive",
        "Let the proxy pass X-Service-Signature on.",
      );
    case "signature_malformed":
      return blocker(
        "signature_changed",
        "the signature header arrives in another form",
        "Let the proxy pass X-Service-Signature on once and unchanged.",
      );
    default:
      return undefined;
  }
}

const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524]);

/** What the status of an answer without a code of signalbox says. */
function faultOfStatus(status: number, headers: IncomingHttpHeaders): Finding {
  if (status >= 300 && status < 400) {
    const { location } = headers;
    const target = location === undefined ? "" : ` to ${echoed(withoutQuery(location))}`;
    return blocker(
      "redirected",
      `${status}: the answer is a redirect${target}`,
      "Register the address that it leads to: a delivery has to be answered with 2xx where it arrives.",
    );
  }
  if (status === 404 || status === 410) {
    return blocker(
      "path_not_found",
      `${status}: nothing is mounted on this path`,
      "Compare the path with app.use(…), and with what a proxy in front cuts off or adds.",
    );
  }
  if (status === 405) {
    return blocker(
      "path_takes_no_post",
      `${status}: this path exists, but does not take POST`,
      "Mount the receiver with app.use(…), and let the proxy pass POST on.",
    );
  }
  if ([401, 403, 407, 429].includes(status) || headers["www-authenticate"] !== undefined) {
    return blocker(
      "login_required",
      `${status}: something before the receiver refuses the request (a login, a firewall, a rate limit)`,
      "Exempt this path from it: the signature already keeps forgeries out.",
    );
  }
  if (status >= 200 && status < 300) {
    return blocker(
      "challenge_missing",
      `${status} without the challenge: another program answers on this path`,
      "Mount the receiver on this path, before what answers there now; the service verifies a webhook by its challenge.",
    );
  }
  if (GATEWAY_STATUSES.has(status)) {
    return blocker(
      "gateway_failed",
      `${status}: a proxy answers, and the receiver behind it does not`,
      "Start the receiver, and compare its address with the one that the proxy has.",
    );
  }
  return blocker(
    "answer_unexpected",
    `${status}: no receiver of signalbox answers like that`,
    "See which program answers on this path: its log has the request. A body parser or a firewall may come first.",
  );
}

/** A query, a user name or a password may be a secret. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
