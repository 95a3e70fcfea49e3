import { sqliteStore } from "signalbox/stores/sqlite";

// The file must be on a disk that survives a new deployment of the app.
const { __PREFIX___DB = "{{sender}}.db" } = process.env;

/** The inbox, in which events wait for {{handler}}. */
export const store = sqliteStore(__PREFIX___DB);
