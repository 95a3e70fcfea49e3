import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import {
  type Data,
  followLive,
  request,
  type RequestOptions,
  useData,
} from "../../../page/parts/index.js";
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
 * below the emulator's address. What shows the effect of a change is loaded anew at once.
 *
 * @throws RequestProblem
 */
async function ask<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const answer = await request<T>(method, `../..${path}`, { ...options, headers: tokenHeaders() });
  if (method !== "GET") dispatchEvent(new Event(CHANGED));
  return answer;
}

/** Reads what the inbox that stands beside the dashboard says. */
export const askInbox = <T>(path: string, options: RequestOptions): Promise<T> =>
  ask<T>("GET", `${CONTROL_PREFIX}/inbox/api/${path}`, options);

let described: Promise<DescribedOperation[]> | undefined;

/** What the emulator names as its operations. It is asked once, and again if that fails. */
export function operations(): Promise<DescribedOperation[]> {
  described ??= ask<{ operations: DescribedOperation[] }>("GET", CONTROL_PREFIX)
    .then((answer) => answer.operations)
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
      controlMethods<EmulatorControl>(await operations(), ask)[name](input),
});

/** What a reader has typed, as the input of an operation: the emulator checks it. */
export const typed = (values: object | string): never => values as never;

/** Awaits a change, and says what came of it. */
export async function change(said: string, done: Promise<unknown>): Promise<string> {
  await done;
  return said;
}

/** What an operation that reads answers, now and from then on. */
export function useAnswer<Name extends Operation>(
  name: Name,
  ...[input]: Parameters<EmulatorControl[Name]>
): Data<Answer<Name>> {
  const load = control[name] as (input: unknown) => Promise<Answer<Name>>;
  return useData(JSON.stringify([name, input]), () => load(input));
}

/** The name of an event of the window. */
const CHANGED = "signalbox-changed";

/**
 * Follows the emulator, and the inbox that stands beside the dashboard.
 *
 * @param onTime gets the emulator's time
 * @returns a number that is another one after each change
 */
export function useChanges(onTime: (now: number) => void): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const increase = (): void => setVersion((previous) => previous + 1);
    const onMessage = ({ now, hasChanged }: ChangeMessage): void => {
      onTime(now);
      if (hasChanged) increase();
    };
    addEventListener(CHANGED, increase);
    // At the end, what is loaded says whether the emulator answers.
    followLive("../changes", { headers: tokenHeaders, onMessage, onEnd: increase });
    if (hasInboxPage())
      followLive("../inbox/api/live", { headers: tokenHeaders, onMessage: increase });
  }, [onTime]);
  return version;
}
