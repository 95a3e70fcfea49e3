import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Account } from "./control.js";

/** What all views share. */
export interface Desk {
  /** The chosen account. */
  account: Account;
  accounts: readonly Account[];
  choose: (accountId: number) => void;
  /** The time of the emulator's clock, in milliseconds since 1970. */
  now: number;
  /** The key of the chosen account that was made in this page or pasted into it; otherwise empty. Only this page has it, in memory. */
  apiKey: string;
  setApiKey: (key: string) => void;
  /** Loads the accounts and the time now, after something has changed them. */
  reload: () => void;
}

export const DeskContext = createContext<Desk | null>(null);

export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (desk === null) throw new Error("A view is outside of the frame.");
  return desk;
}

/** A time as the service's document gives all times, such as `2026-03-09 14:05:09 UTC`. */
export const formatUtc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
