import { createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { followLive } from "../../../page/parts/follow-live.js";
import { request, type RequestOptions } from "../../../page/parts/request.js";
import { type Data, useData } from "../../../page/parts/use-data.js";
import {
  CONTROL_PREFIX,
  controlMethods,
  type DescribedOperation,
} from "../control/control-client.js";
import type { ChangeMessage } from "../http/change-stream.js";
import type { EmulatorControl } from "../instance/create-emulator.js";

type Operation = keyof EmulatorControl;

/** What an operation of the control API answers, by the name of its method. */
export type Answer<Name extends Operation> = Awaited<ReturnType<EmulatorControl[Name]>>;

export type Account = Answer<"listAccounts">["items"][number];
export type Registration = Answer<"readRegistration">;
export type Delivery = Answer<"readDelivery">;

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
  newSecret: { registrationId: string; secret: string } | null;
  setNewSecret: (made: Desk["newSecret"]) => void;
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
 * Where the token of an emulator that asks for one is kept. The browser forgets it with the tab.
 */
const TOKEN = "signalbox-control-token";

export const keepControlToken = (token: string): void => sessionStorage.setItem(TOKEN, token);

/** What a request to the emulator sends of it. */
function tokenHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

/**
 * Sends a request to the emulator, with the control token if there is one. The page is two levels
 * below the emulator's address. @throws RequestProblem
 */
function ask<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return request<T>(method, `../..${path}`, { ...options, headers: tokenHeaders() });
}

/** Reads what the inbox that stands beside the dashboard says. */
export const askInbox = <T>(path: string, options: RequestOptions): Promise<T> =>
  ask<T>("GET", `${CONTROL_PREFIX}/inbox/api/${path}`, options);

let described: Promise<EmulatorControl> | undefined;

/** What the emulator names as its operations. It is asked once, and again if that fails. */
function operations(): Promise<EmulatorControl> {
  described ??= ask<{ operations: DescribedOperation[] }>("GET", CONTROL_PREFIX)
    .then((answer) => controlMethods<EmulatorControl>(answer.operations, ask))
    .catch((error: unknown) => {
      described = undefined;
      throw error;
    });
  return described;
}

/** The operations of the control API, as methods. They throw a `RequestProblem`. */
export const control = new Proxy({} as EmulatorControl, {
  get:
    (_none, name: Operation) =>
    async (input: never): Promise<unknown> =>
      (await operations())[name](input),
});

/** What a reader has typed, as the input of an operation: the emulator checks it. */
export const typed = (values: object | string): never => values as never;

/** Awaits an operation, loads anew what shows its effect, and says what came of it. */
export async function change(
  shown: Pick<Data<unknown>, "reload">,
  said: string,
  done: Promise<unknown>,
): Promise<string> {
  await done;
  shown.reload();
  return said;
}

/** What an operation that reads answers, now and from then on. */
export function useAnswer<Name extends Operation>(
  name: Name,
  ...[input]: Parameters<EmulatorControl[Name]>
): Data<Answer<Name>> {
  const load = control[name] as (input: unknown) => Promise<Answer<Name>>;
  return useLive(JSON.stringify([name, input]), () => load(input));
}

const listeners = new Set<(message: ChangeMessage) => void>();

/** Calls back for each message of the emulator. @returns a function that ends this */
export function onMessage(listener: (message: ChangeMessage) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows the emulator as long as the page is open. */
export function followChanges(): void {
  let now = Date.now();
  const tell = (message: ChangeMessage): void => {
    ({ now } = message);
    for (const listener of listeners) listener(message);
  };
  followLive<ChangeMessage>("../changes", {
    headers: tokenHeaders,
    onMessage: tell,
    // What is loaded then says whether the emulator answers.
    onEnd: () => tell({ now, hasChanged: true }),
  });
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
    if (!hasInboxPage()) return undefined;
    return followLive("../inbox/api/live", { headers: tokenHeaders, onMessage: onNews });
  }, [onNews]);
}
