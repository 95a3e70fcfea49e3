import type { Subject } from "./examination.js";
import { blocker, firstFault, ok, type Fault, type Finding } from "./findings.js";
import { verificationBody } from "./probe.js";

export async function examineConnection({ send, timeoutMs, facts }: Subject): Promise<Finding[]> {
  const reply = await send({ body: verificationBody() });
  const { answer } = reply;
  if (answer.kind === "unreachable") return [noConnection(answer.code)];
  if (answer.kind === "broken") return [noAnswer(answer.code, timeoutMs)];
  facts.contact = reply;
  return [ok("connected", `a server answers: ${answer.status} in ${Math.round(answer.ms)} ms`)];
}

/** Faults by the error code that Node, OpenSSL or `sendDelivery` gives. The first match is used. */
const FAULTS: readonly Fault[] = [
  {
    pattern: /^ECONNREFUSED$/,
    id: "connection_refused",
    found: "no program listens on this address and port",
    fix: "Start the receiver, and compare the address and port that it listens on with the URL.",
  },
  {
    pattern: /^(timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)$/,
    id: "connection_timed_out",
    found: "nothing answers on this address and port",
    fix: "Open the port in the firewall or security group, and check that the host is up.",
  },
  {
    pattern: /SELF_SIGNED|^(UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    id: "tls_failed",
    found: "the server's certificate is not accepted",
    fix: "Install a valid certificate for this name, from an authority that browsers accept, with its intermediate certificates.",
  },
  {
    pattern: /^(EPROTO|ERR_SSL_|ERR_TLS_)/,
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

function noConnection(code: string): Finding {
  const { id, found, fix } = firstFault(FAULTS, code) as Fault;
  return blocker(id, `${found} (${code})`, fix);
}

function noAnswer(code: string, timeoutMs: number): Finding {
  if (code === "timeout") {
    const fix = "Check that the handler answers every request. If the handler is only slow, raise --timeout.";
    return blocker(
      "no_answer",
      `the server accepted the connection, but did not answer within ${timeoutMs / 1000} s`,
      fix,
    );
  }
  const fix =
    "Read the server's log: the server closed the connection or crashed. An http URL on an https port has the same effect.";
  return blocker("connection_broken", `the server ended the connection without an answer (${code})`, fix);
}
