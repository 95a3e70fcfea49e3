import type { Subject } from "./examination.js";
import { blocker, ok, type Finding } from "./findings.js";
import { verificationBody } from "./probe.js";

/** Sends the first probe. The next examinations judge its answer. */
export async function examineConnection({ send, timeoutMs, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody() });
  const { answer } = reply;
  if (answer.kind === "unreachable") return [noConnection(answer.code)];
  if (answer.kind === "broken") return [noAnswer(answer.code, timeoutMs)];
  facts.contact = reply;
  return [ok("connected", `a server answers: ${answer.status} in ${Math.round(answer.ms)} ms`)];
}

export interface Failure {
  /** Codes of Node, OpenSSL and `sendDelivery`; of an answer its code or its status. */
  codes: RegExp;
  id: string;
  found: string;
  fix: string;
}

/** Why there was no connection. The first that fits. */
const FAILURES: readonly Failure[] = [
  {
    codes: /^ECONNREFUSED$/,
    id: "connection_refused",
    found: "nothing listens there",
    fix: "Start the receiver, and compare its port, and the address that it listens on, with the URL.",
  },
  {
    codes: /^(timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
    id: "connection_timed_out",
    found: "nothing answers there",
    fix: "Open the port in the firewall or security group, and see that the host is up.",
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    id: "tls_failed",
    found: "the server's certificate has expired",
    fix: "Renew the certificate, and see why it was not renewed automatically.",
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    id: "tls_failed",
    found: "the server's certificate is for another name",
    fix: "Register the name that it is for, or get one for this name.",
  },
  {
    codes: /SELF_SIGNED|^(UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    id: "tls_failed",
    found: "the server's certificate cannot be verified: it is self-signed, or an intermediate is missing",
    fix: "Install a certificate for this name that browsers accept, with its intermediates.",
  },
  {
    codes: /^(EPROTO|ERR_SSL_|ERR_TLS_)/,
    id: "tls_failed",
    found: "the server speaks no TLS there, or an old version",
    fix: "See whether the port is the one for https. A receiver speaks only http, and needs a proxy for TLS.",
  },
];

export function noConnection(code: string): Finding {
  const failure = FAILURES.find(({ codes }) => codes.test(code));
  if (failure === undefined) {
    return blocker("connection_failed", `no connection (${code})`, "Look at what stands between here and the server.");
  }
  return blocker(failure.id, `${failure.found} (${code})`, failure.fix);
}

function noAnswer(code: string, timeoutMs: number): Finding {
  if (code === "timeout") {
    const fix = "See whether the handler answers every request, and raise --timeout if it is only slow.";
    return blocker("no_answer", `connected, and no answer within ${timeoutMs / 1000} s`, fix);
  }
  const fix = "Look at the server's log: it hung up, or crashed. An http URL on an https port does this too.";
  return blocker("connection_broken", `connected, and the connection ended without an answer (${code})`, fix);
}
