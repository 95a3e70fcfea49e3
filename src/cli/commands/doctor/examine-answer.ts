import type { IncomingHttpHeaders } from "node:http";
import { echoed } from "../../console/printable.js";
import type { Reply, Subject } from "./examination.js";
import { blocker, firstFault, ok, type Fault, type Finding } from "./findings.js";
import { verdictOf } from "./probe.js";

/** Checks that a receiver answers, and that the request reaches the code that verifies its signature. */
export function examineAnswer({ facts }: Subject): Finding[] {
  const reply = facts.contact as Reply;
  const { answer, headers, code } = reply;
  const status = answer.kind === "answer" ? answer.status : 0;
  if (verdictOf(reply) === "unclear") return [faultOfCode(code) ?? faultOfStatus(status, headers)];
  const outcome = reply.isVerified ? "challenge" : (code ?? "");
  return [ok("receiver_answers", `a receiver answers: ${status} ${outcome}`.trim())];
}

/** Faults in the set-up of a signalbox receiver, by the code of its answer. */
const FAULTS_BY_CODE: readonly Fault[] = [
  {
    pattern: /^body_unavailable$/,
    id: "body_parsed_first",
    found: "a body parser reads the body before the receiver",
    fix: "Mount expressHandler before express.json(), or use express.json({ verify: captureRawBody }).",
  },
  {
    pattern: /^store_unavailable$/,
    id: "store_unavailable",
    found: "the receiver was not started, or its store does not work",
    fix: "Await receiver.start() and read the log, which names the cause (disk full, no permission, file in use).",
  },
  {
    pattern: /^secret_unavailable$/,
    id: "secret_unavailable",
    found: "the receiver has no secret: the source of its secrets is empty or fails",
    fix: "Read the receiver's log, which names the cause. `npx signalbox register` writes the secret to a file.",
  },
  {
    pattern: /^(overloaded|ack_timeout|closing)$/,
    id: "receiver_busy",
    found: "the receiver is overloaded or closing",
    fix: "Try again later. If this continues, check the receiver's log and its disk (docs/errors.md, Answer codes).",
  },
  {
    pattern: /^encoding_unsupported$/,
    id: "body_compressed",
    found: "the body was sent uncompressed and arrives compressed",
    fix: "Turn off the compression of requests in the proxy.",
  },
  {
    pattern: /^body_timeout$/,
    id: "body_cut",
    found: "the body does not arrive completely in time",
    fix: "Check the proxy in front of the receiver: it does not forward the whole body.",
  },
  {
    pattern: /^signature_missing$/,
    id: "signature_lost",
    found: "the signature header does not arrive",
    fix: "Make the proxy forward X-Service-Signature.",
  },
  {
    pattern: /^signature_malformed$/,
    id: "signature_changed",
    found: "the signature header arrives in another form",
    fix: "Make the proxy forward X-Service-Signature once and unchanged.",
  },
];

/** Faults by the status of an answer whose code is not in `FAULTS_BY_CODE`. The first match is used. */
const FAULTS_BY_STATUS: readonly Fault[] = [
  {
    pattern: /^3/,
    id: "redirected",
    found: "the answer is a redirect",
    fix: "Register the target of the redirect: the registered address itself must answer with 2xx.",
  },
  {
    pattern: /^(404|410)$/,
    id: "path_not_found",
    found: "nothing is mounted on this path",
    fix: "Compare the path with app.use(…), and with the path prefix that a proxy adds or removes.",
  },
  {
    pattern: /^405$/,
    id: "path_takes_no_post",
    found: "this path exists, but does not accept POST",
    fix: "Mount the receiver with app.use(…), and make the proxy forward POST.",
  },
  {
    pattern: /^(401|403|407|429)$/,
    id: "login_required",
    found: "a program in front of the receiver refuses the request (a login, a firewall, a rate limit)",
    fix: "Exempt this path from that program: the receiver itself refuses forgeries by their signature.",
  },
  {
    pattern: /^2/,
    id: "challenge_missing",
    found: "the challenge is missing: another program answers on this path",
    fix: "Mount the receiver on this path, before other handlers: the service verifies a webhook by its challenge.",
  },
  {
    pattern: /^(502|503|504|52[0-4])$/,
    id: "gateway_failed",
    found: "a proxy answers, but the receiver behind it does not",
    fix: "Start the receiver, and compare its address with the address that is configured in the proxy.",
  },
  {
    pattern: /^/,
    id: "answer_unexpected",
    found: "a signalbox receiver does not answer like that",
    fix: "Find out which program answers on this path, and read its log. It may be a body parser or a firewall.",
  },
];

export function faultOfCode(code: string | null): Finding | undefined {
  const fault = firstFault(FAULTS_BY_CODE, code ?? "");
  return fault && blocker(fault.id, fault.found, fault.fix);
}

function faultOfStatus(status: number, headers: IncomingHttpHeaders): Finding {
  const { location } = headers;
  const key = headers["www-authenticate"] === undefined ? String(status) : "401";
  const { id, found, fix } = firstFault(FAULTS_BY_STATUS, key) as Fault;
  const target = id === "redirected" && location !== undefined ? ` to ${echoed(withoutSecretParts(location))}` : "";
  return blocker(id, `${status}: ${found}${target}`, fix);
}

/** The target without query, fragment, user name and password, because these may contain a secret. */
function withoutSecretParts(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
