import { postgresStore } from "signalbox/stores/postgres";

const LOCAL = "postgres://postgres@127.0.0.1:5432/postgres";
const { DATABASE_URL: connectionString = LOCAL } = process.env;

/** The inbox, in which events wait for {{handler}}: the schema signalbox. */
export const store = postgresStore({ connectionString });
