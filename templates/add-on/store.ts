import { sqliteStore } from "signalbox/stores/sqlite";

// The file must be on a disk that survives a new deployment of the app.
const { SIGNALS_DB = "signals.db" } = process.env;

/** The inbox, in which signals wait for onSignal. */
export const store = sqliteStore(SIGNALS_DB);
