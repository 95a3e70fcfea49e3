import { sqliteStore } from "signalbox/stores/sqlite";
import { z } from "zod";

/** The variables of the inbox, with their defaults. */
export const STORE_VARIABLES = { INBOX_PATH: z.string().default("{{sender}}.db") };

/** Events are stored here before they are acknowledged. */
export const createStore = ({ INBOX_PATH }: { INBOX_PATH: string }) => sqliteStore(INBOX_PATH);
