/** What one request came to. */
export type RequestOutcome =
  | { status: number; headers: Record<string, string>; body: Buffer }
  /** There was no answer. */
  | { failure: RequestFailure };

/** Why there was none; `address_refused` is the service's own doing. */
export type RequestFailure =
  | "timed_out"
  | "connection_refused"
  | "connection_reset"
  | "name_unresolved"
  | "address_refused"
  | "tls_failed"
  | "answer_unreadable"
  | "unreachable";

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Makes one POST; never rejects, and follows no redirect. */
export type SendRequest = (request: WebhookRequest, signal: AbortSignal) => Promise<RequestOutcome>;
