import { postgresStore } from "signalbox/stores/postgres";

const LOCAL = "postgres://postgres@127.0.0.1:5432/postgres";
const { DATABASE_URL: connectionString = LOCAL } = process.env;

/** The inbox, in which signals wait for onSignal: the schema signalbox. */
export const store = postgresStore({ connectionString });
