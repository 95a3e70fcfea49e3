import { useEffect } from "preact/hooks";
import type { EmulatorControl } from "../../../emulator/instance/create-emulator.js";
import { request, RequestProblem, type RequestOptions } from "../parts/request.js";
import { useData, type Data } from "../parts/use-data.js";
import { controlToken, wantControlToken } from "./access/control-token.js";

/** What an operation of the control API answers, by the name of its method. */
export type Answer<Name extends keyof EmulatorControl> = Awaited<ReturnType<EmulatorControl[Name]>>;

export type Account = Answer<"listAccounts">["items"][number];
export type Registration = Answer<"readRegistration">;
export type Delivery = Answer<"readDelivery">;

/**
 * Calls an operation of the control API.
 *
 * @param path below `/_emulator`, such as `/accounts`
 * @param input the query of a GET, the body of all others
 * @throws RequestProblem
 */
export async function control<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const token = controlToken();
  const given = method === "GET" ? { query: input as NonNullable<RequestOptions["query"]> } : { body: input };
  try {
    return await request<T>(method, `..${path}`, {
      ...given,
      ...(token !== null && { headers: { Authorization: `Bearer ${token}` } }),
    });
  } catch (error) {
    if (error instanceof RequestProblem && error.status === 401) wantControlToken(token);
    throw error;
  }
}

/**
 * Calls the REST API, as a client does.
 *
 * @param path below `/v1`, such as `/research/rankings`
 * @param token an API key, or a session token
 * @throws RequestProblem
 */
export function rest<T>(
  method: "GET" | "POST",
  path: string,
  { token, ...options }: { token: string } & Pick<RequestOptions, "query" | "body">,
): Promise<T> {
  return request<T>(method, `../../v1${path}`, { ...options, headers: { Authorization: `Bearer ${token}` } });
}

/** What a GET of the control API answers, now and from then on. Values of the query that are empty are left out. */
export function useAnswer<Name extends keyof EmulatorControl>(
  path: string,
  query: Readonly<Record<string, string | number>> = {},
): Data<Answer<Name>> {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
  return useLive(() => control<Answer<Name>>("GET", path, given), [path, JSON.stringify(given)]);
}

const REST_MS = 1500;

/** As `useData`, and loads again and again while the page can be seen. */
export function useLive<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Data<T> {
  const live = useData(load, deps);
  const { isLoading, reload } = live;
  useEffect(() => {
    if (isLoading) return undefined;
    const next = (): void => {
      if (!document.hidden) reload();
    };
    const timer = setTimeout(next, REST_MS);
    document.addEventListener("visibilitychange", next);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", next);
    };
  }, [isLoading, reload]);
  return live;
}
