/** Why a request failed, in words for the reader of the page. */
export class RequestProblem extends Error {
  /** 0 when no answer came. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "RequestProblem";
    this.status = status;
    this.code = code;
  }
}

/** Values that are undefined or empty are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export interface RequestOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** @default "follow" */
  redirect?: "follow" | "error";
}

/** An address with its query. */
export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0
    ? path
    : `${path}?${String(new URLSearchParams(given as [string, string][]))}`;
}

/**
 * Sends a request to an address below the page's own.
 *
 * @returns the JSON of the answer; undefined when the answer has no body
 * @throws RequestProblem
 */
export async function request<T>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<T> {
  const { query, body, headers, signal, redirect = "follow" } = options;
  const init: RequestInit = {
    method,
    redirect,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    headers: {
      Accept: "application/json",
      // A page of another site cannot send it.
      ...(method === "GET" ? {} : { "X-Signalbox": "1" }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(address(path, query), init);
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new RequestProblem(
      0,
      "unreachable",
      "The server does not answer. Start it, or look at your connection.",
    );
  }
  const { status } = response;
  try {
    const json: unknown = text === "" ? undefined : JSON.parse(text);
    if (response.ok) return json as T;
    const { code, message } = (json as { error: { code: unknown; message: unknown } }).error;
    if (typeof message === "string") throw new RequestProblem(status, String(code), message);
  } catch (error) {
    if (error instanceof RequestProblem) throw error;
  }
  const message = `The server answered with status ${status}, and did not say why. If you have to log in again, reload the page.`;
  throw new RequestProblem(status, "unexpected_answer", message);
}

/** What to show of an error that a request or a view threw. */
export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
