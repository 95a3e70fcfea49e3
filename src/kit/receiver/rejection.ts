import type { SignatureProblem } from "../senders/signature/verify.js";

/** Why a delivery was refused; the `code` of the answer's error. */
export type RejectionCode =
  | SignatureProblem
  | "method_not_allowed"
  | "encoding_unsupported"
  | "handshake_refused"
  | "tenant_unknown"
  | "tenant_mismatch"
  | "body_timeout"
  | "body_too_large"
  | "body_unavailable"
  | "secret_unavailable"
  | "store_unavailable"
  | "overloaded"
  | "ack_timeout"
  | "closing";

/** A refusal of one delivery. `cause` is set when the user can remove the reason for it. */
export interface Refusal {
  code: RejectionCode;
  cause?: unknown;
}

export interface Rejection {
  status: number;
  /** A fixed text: it repeats nothing of the request. */
  message: string;
  headers?: Readonly<Record<string, string>>;
}

const RETRY_IN_5_S = { "Retry-After": "5" };
/** The queue of a commit empties within milliseconds. */
const RETRY_IN_1_S = { "Retry-After": "1" };
const CLOSE = { Connection: "close" };

/** What is said differently for a sender other than the service. */
export const OTHER_SENDERS: Readonly<Partial<Record<RejectionCode, string>>> = {
  signature_missing: "A header of the signature is missing.",
  signature_malformed: "The signature header does not have the form that the sender uses.",
};

/** Every refusal of the receiver: the only place for its status, text and headers. */
export const REJECTIONS: Readonly<Record<RejectionCode, Rejection>> = {
  method_not_allowed: {
    status: 405,
    message: "Deliveries are sent with POST.",
    headers: { Allow: "POST" },
  },
  encoding_unsupported: {
    status: 415,
    message: "The body must be sent without a content encoding.",
  },
  body_timeout: { status: 408, message: "The body took too long to arrive.", headers: CLOSE },
  body_too_large: {
    status: 413,
    message: "The body is larger than this endpoint accepts.",
    headers: CLOSE,
  },
  body_unavailable: {
    status: 500,
    message: "The endpoint is set up wrongly: it cannot see the original body.",
  },
  signature_missing: { status: 401, message: "The signature header is missing." },
  signature_malformed: {
    status: 401,
    message: "The signature header is not of the form t=<unix seconds>,v1=<hex>.",
  },
  signature_mismatch: { status: 401, message: "The signature does not match the body." },
  tenant_mismatch: { status: 401, message: "The event is of another tenant." },
  handshake_refused: { status: 403, message: "The handshake was not accepted." },
  tenant_unknown: { status: 404, message: "No tenant has this address." },
  timestamp_out_of_tolerance: {
    status: 401,
    message: "The signature is too old or from the future.",
  },
  secret_unavailable: {
    status: 503,
    message: "The signing secret is not available now.",
    headers: RETRY_IN_5_S,
  },
  store_unavailable: {
    status: 503,
    message: "The event could not be stored now.",
    headers: RETRY_IN_5_S,
  },
  overloaded: {
    status: 503,
    message: "Too much is waiting to be received or stored.",
    headers: RETRY_IN_1_S,
  },
  ack_timeout: { status: 503, message: "The event was not stored in time.", headers: RETRY_IN_5_S },
  closing: {
    status: 503,
    message: "The receiver is closing.",
    headers: { ...RETRY_IN_5_S, ...CLOSE },
  },
};
