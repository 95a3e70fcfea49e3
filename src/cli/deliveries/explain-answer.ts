import { failureOf } from "../../base/http/exchange.js";
import { echoed } from "../console/terminal.js";
import { errorCodeIn, type Answer, type Answered } from "./send-delivery.js";

/** Why a receiver did not verify a delivery, and what to do. */
export interface Fault {
  /** The id of the finding in `doctor`. */
  id: string;
  found: string;
  fix: string;
}

/** A fault, and the pattern of the error codes or statuses that it explains. */
interface Cause extends Fault {
  pattern: RegExp;
}

/**
 * Explains an answer that is neither the expected answer nor a refusal of the signature, or why
 * there is no answer.
 */
export function explainAnswer(answer: Answer, timeoutMs: number): Fault {
  if (answer.kind === "unreachable") return noConnection(answer.code);
  if (answer.kind === "broken") return noAnswer(answer.code, timeoutMs);
  return explainCode(errorCodeIn(answer)) ?? explainStatus(answer);
}

/** Faults by the kind of failure and its code, with a blank between. The first match is used. */
const NO_CONNECTION: readonly Cause[] = [
  {
    pattern: /^connection_refused /,
    id: "connection_refused",
    found: "no program listens on this address and port",
    fix: "Start the receiver, and compare the address and port that it listens on with the URL.",
  },
  {
    pattern: /^timed_out | E(HOST|NET)(UNREACH|DOWN)$/,
    id: "connection_timed_out",
    found: "nothing answers on this address and port",
    fix: "Open the port in the firewall or security group, and check that the host is up.",
  },
  {
    pattern: /^tls_failed .*(SELF_SIGNED|UNABLE_TO_|CERT_)/,
    id: "tls_failed",
    found: "the server's certificate is not accepted",
    fix: "Install a valid certificate for this name, from an authority that browsers accept, with its intermediate certificates.",
  },
  {
    pattern: /^tls_failed /,
    id: "tls_failed",
    found: "the server uses no TLS on this port, or it uses an old version of TLS",
    fix: "Check whether this is the port for https. A receiver serves only http, so it needs a proxy for TLS.",
  },
  {
    pattern: /^/,
    id: "connection_failed",
    found: "no connection",
    fix: "Check the proxies, tunnels and firewalls between this machine and the server.",
  },
];

function noConnection(code: string): Fault {
  const { id, found, fix } = firstCause(NO_CONNECTION, `${failureOf(code)} ${code}`) as Fault;
  return { id, found: `${found} (${code})`, fix };
}

function noAnswer(code: string, timeoutMs: number): Fault {
  if (code === "timeout") {
    return {
      id: "no_answer",
      found: `the server accepted the connection, but did not answer within ${timeoutMs / 1000} s`,
      fix: "Check that the handler answers every request. If the handler is only slow, raise --timeout.",
    };
  }
  return {
    id: "connection_broken",
    found: `the server ended the connection without an answer (${code})`,
    fix: "Read the server's log: the server closed the connection or crashed. An http URL on an https port has the same effect.",
  };
}

/** Faults in the set-up of a signalbox receiver, by the code of its answer. */
const SET_UP: readonly Cause[] = [
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
  {
    pattern: /^timestamp_out_of_tolerance$/,
    id: "clock_skewed",
    found:
      "the receiver refuses a signature that was made now, so its clock differs from this machine's",
    fix: "Set both clocks by NTP (compare them with `timedatectl` or `date -u`).",
  },
];

/** Faults by the status of an answer whose code is not in `SET_UP`. The first match is used. */
const BY_STATUS: readonly Cause[] = [
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
    found:
      "a program in front of the receiver refuses the request (a login, a firewall, a rate limit)",
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

export function explainCode(code: string | null): Fault | undefined {
  return firstCause(SET_UP, code ?? "");
}

function explainStatus({ status, headers }: Answered): Fault {
  const { location } = headers;
  const key = headers["www-authenticate"] === undefined ? String(status) : "401";
  const { id, found, fix } = firstCause(BY_STATUS, key) as Fault;
  const target =
    id === "redirected" && location !== undefined
      ? ` to ${echoed(withoutSecretParts(location))}`
      : "";
  return { id, found: `${status}: ${found}${target}`, fix };
}

function firstCause(causes: readonly Cause[], text: string): Fault | undefined {
  return causes.find(({ pattern }) => pattern.test(text));
}

/**
 * The target without query, fragment, user name and password, because these may contain a secret.
 */
function withoutSecretParts(location: string): string {
  return location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
