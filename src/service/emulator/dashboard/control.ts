import { createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import type { EmulatorControl } from "../instance/create-emulator.js";
import { address, type Query, request, type RequestOptions } from "../../../page/parts/request.js";
import { type Data, useData } from "../../../page/parts/use-data.js";
import { tokenHeaders } from "./control-token.js";
import { followLines, onMessage } from "./follow-changes.js";

/** What an operation of the control API answers, by the name of its method. */
export type Answer<Name extends keyof EmulatorControl> = Awaited<ReturnType<EmulatorControl[Name]>>;

export type Account = Answer<"listAccounts">["items"][number];
export type Registration = Answer<"readRegistration">;
export type Delivery = Answer<"readDelivery">;

interface NewSecret {
  registrationId: string;
  secret: string;
}

/** What all views share. */
export interface Desk {
  /** The chosen account. */
  account: Account;
  choose: (accountId: number) => void;
  /**
   * The key of the chosen account that was made in this page or pasted into it; otherwise empty.
   * Only this page has it, in memory.
   */
  apiKey: string;
  setApiKey: (key: string) => void;
  /** A signing secret that its webhook's view shows once. */
  newSecret: NewSecret | null;
  setNewSecret: (made: NewSecret | null) => void;
  /** Loads the accounts and the time now, after something has changed them. */
  reload: () => void;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error("A view is outside of the frame.");
  return desk;
}

/** Whether an inbox stands beside the dashboard. */
export const hasInboxPage = (): boolean => document.documentElement.dataset["inbox"] !== undefined;

/**
 * Sends a request to the emulator, with the control token if there is one. @throws RequestProblem
 */
export function ask<T>(method: string, path: string, options: RequestOptions): Promise<T> {
  return request<T>(method, `..${path}`, { ...options, headers: tokenHeaders() });
}

/**
 * Calls an operation of the control API.
 *
 * @param path below `/_emulator`, such as `/accounts`
 * @param input the query of a GET, the body of all others
 * @throws RequestProblem
 */
export function control<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  return ask<T>(method, path, method === "GET" ? { query: input as Query } : { body: input });
}

/** Calls an operation, loads anew what shows its effect, and says what came of it. */
export async function change(
  shown: Pick<Data<unknown>, "reload">,
  said: string,
  ...[method, path, input]: Parameters<typeof control>
): Promise<string> {
  await control(method, path, input);
  shown.reload();
  return said;
}

/** What a GET of the control API answers, now and from then on. */
export function useAnswer<Name extends keyof EmulatorControl>(
  path: string,
  query: Query = {},
): Data<Answer<Name>> {
  return useLive(address(path, query), () => control<Answer<Name>>("GET", path, query));
}

/** As `useData`, and loads again whenever the emulator has changed. */
export function useLive<T>(what: string, load: (signal: AbortSignal) => Promise<T>): Data<T> {
  const live = useData(what, load);
  const { isLoading, reload } = live;
  const loading = useRef(isLoading);
  const hasMissed = useRef(false);
  // A load that runs is not dropped, however often something changes.
  useEffect(
    () =>
      onMessage(({ hasChanged }) => {
        if (hasChanged && loading.current) hasMissed.current = true;
        else if (hasChanged) reload();
      }),
    [reload],
  );
  useEffect(() => {
    loading.current = isLoading;
    if (isLoading || !hasMissed.current) return;
    hasMissed.current = false;
    reload();
  }, [isLoading, reload]);
  return live;
}

/** Calls back when the inbox that stands beside the dashboard has changed. */
export function useInboxNews(onNews: () => void): void {
  useEffect(() => {
    const left = new AbortController();
    const take = (line: string): void => void (line.startsWith("event:") && onNews());
    if (hasInboxPage()) void followLines("../inbox/api/live", left.signal, take);
    return () => left.abort();
  }, [onNews]);
}
