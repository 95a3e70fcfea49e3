/** What the servers and the load generator share. */
export const SECRET = "whsec_bench_4f1d1c8e5b0a4d7e9a2c";
export const PATH = "/webhooks/signals";
export const HOST = "127.0.0.1";
