/**
 * Ends a request of the page with this answer. Its texts are fixed: they repeat nothing of the
 * request.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** @throws Refusal 404 */
export function refuseUnknown(message: string): never {
  throw new Refusal(404, "not_found", message);
}

/** @throws Refusal 400 */
export function refuseInput(message: string, code = "input_invalid"): never {
  throw new Refusal(400, code, message);
}
