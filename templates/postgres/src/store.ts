import { postgresStore } from "signalbox/stores/postgres";
import { z } from "zod";

/** The variables of the inbox, with their defaults. */
export const STORE_VARIABLES = {
  DATABASE_URL: z.string().default("postgres://postgres@127.0.0.1:5432/postgres"),
};

/** Events are stored here before they are acknowledged. */
export const createStore = ({ DATABASE_URL }: { DATABASE_URL: string }) =>
  postgresStore({ connectionString: DATABASE_URL, schema: "{{schema}}" });
