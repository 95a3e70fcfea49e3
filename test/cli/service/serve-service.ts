import type { ServerResponse } from "node:http";
import { signBody } from "../../../src/kit/index.js";
import { verificationEvent } from "../../../src/kit/testing/index.js";
import { serveRecorder, type RecordedRequest } from "../serve-requests.js";

/** What a request for a registration holds. */
export interface Registering {
  url: string;
  locale: string;
  signal_types: string[];
}

export const API_KEY = "key_of_the_command_line";

/** A new registration, as the document of the service has it. */
export function registration(number: number, asked: Registering): Record<string, unknown> {
  const at = "2026-11-21T10:00:00.000Z";
  return {
    id: `wh_${number}`,
    status: "pending",
    ...asked,
    failure_count: 0,
    created_at: at,
    updated_at: at,
    signing_secret: `whsec_shown_once_${number}`,
  };
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

export function refusal(code: string, message: string): Record<string, unknown> {
  return { error: { code, message }, request_id: "req_of_the_test" };
}

export type Answer = (
  asked: Registering,
  number: number,
  response: ServerResponse,
) => void | Promise<void>;

/**
 * A stand-in for the part of the service that registers. It tells no status, as the real service.
 * `access` is what the command line needs for it.
 */
export async function serveService(
  answer: Answer = (asked, number, response) =>
    answerJson(response, 201, registration(number, asked)),
  answerRead = (response: ServerResponse): void =>
    answerJson(response, 404, refusal("NOT_FOUND", "No.")),
): Promise<{ access: string[]; asked: () => Registering[]; requests: RecordedRequest[] }> {
  const parse = ({ body }: RecordedRequest): Registering =>
    JSON.parse(body.toString()) as Registering;
  const requests: RecordedRequest[] = [];
  const { url } = await serveRecorder((request, response) => {
    if (request.method === "GET") return answerRead(response);
    requests.push(request);
    void answer(parse(request), requests.length, response);
  });
  const access = ["--base-url", new URL("/v1", url).href, "--api-key", API_KEY];
  return { access, asked: () => requests.map(parse), requests };
}

/** A receiver that answers each challenge, whatever the signature. */
export async function serveChallenges(): Promise<string> {
  const { url } = await serveRecorder(({ body }, response) => {
    const { data } = JSON.parse(body.toString()) as { data: { challenge: string } };
    answerJson(response, 200, { challenge: data.challenge });
  });
  return url;
}

/** Posts a verification as the service does, and gives whether its challenge was answered. */
export async function postVerification(url: string, secret: string): Promise<boolean> {
  const event = verificationEvent();
  const body = JSON.stringify(event);
  const headers = {
    "Content-Type": "application/json",
    "X-Service-Signature": signBody({ body, secret }),
  };
  const answer = await fetch(url, { method: "POST", headers, body });
  return (
    answer.ok &&
    ((await answer.json()) as { challenge?: string }).challenge === event.data.challenge
  );
}
