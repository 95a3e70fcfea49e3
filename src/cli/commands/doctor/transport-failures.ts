import { blocker, type Finding } from "./finding.js";
import type { FindingId } from "./finding-ids.js";

interface Failure {
  /** Codes of Node, OpenSSL and `sendDelivery`. */
  codes: RegExp;
  id: FindingId;
  found: string;
  mend: string;
}

const CERTIFICATE = "Install a certificate for this name that browsers accept, with its intermediates.";

/** Why no connection came about. The first that fits. */
const FAILURES: readonly Failure[] = [
  {
    codes: /^ECONNREFUSED$/,
    id: "connection_refused",
    found: "nothing listens there",
    mend: "Start the receiver, and compare its port, and the address that it listens on, with the URL.",
  },
  {
    codes: /^(timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
    id: "connection_timed_out",
    found: "nothing answers there",
    mend: "Open the port in the firewall or security group, and see that the host is up.",
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    id: "tls_failed",
    found: "the server's certificate has expired",
    mend: "Renew the certificate, and see why it was not renewed by itself.",
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    id: "tls_failed",
    found: "the server's certificate is not valid yet",
    mend: "Set this machine's clock, or wait.",
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    id: "tls_failed",
    found: "the server's certificate is for another name",
    mend: "Register the name that it is for, or get one for this name.",
  },
  {
    codes: /SELF_SIGNED/,
    id: "tls_failed",
    found: "the server's certificate is signed by itself, or by an authority of its own",
    mend: CERTIFICATE,
  },
  {
    codes: /^(UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    id: "tls_failed",
    found: "the server's certificate cannot be verified: mostly an intermediate is missing",
    mend: CERTIFICATE,
  },
  {
    codes: /^(EPROTO|ERR_SSL_|ERR_TLS_)/,
    id: "tls_failed",
    found: "the server does not speak TLS there, or an old one",
    mend: "See whether the port is the one for https; a receiver alone speaks http, and wants a proxy for TLS.",
  },
];

export function noConnection(code: string): Finding {
  const failure = FAILURES.find(({ codes }) => codes.test(code));
  if (failure === undefined) {
    return blocker("connection_failed", `no connection (${code})`, "Look at what stands between here and the server.");
  }
  return blocker(failure.id, `${failure.found} (${code})`, failure.mend);
}

export function noAnswer(code: string, timeoutMs: number): Finding {
  if (code === "timeout") {
    const mend = "See whether the handler answers every request, and raise --timeout if it is only slow.";
    return blocker("no_answer", `connected, and no answer within ${timeoutMs / 1000} s`, mend);
  }
  const mend = "Look at the server's log: it hung up, or crashed. An http URL on an https port does this too.";
  return blocker("connection_broken", `connected, and the connection ended without an answer (${code})`, mend);
}
