/** What the servers, the load generator and the stores of the bench share. */
export const SECRET = "whsec_bench_4f1d1c8e5b0a4d7e9a2c";
export const PATH = "/webhooks/signals";
export const HOST = "127.0.0.1";
/** Of the inbox. */
export const ENDPOINT = "default";
/** Connections of what writes each event to PostgreSQL by itself. */
export const POOL_SIZE = 10;
