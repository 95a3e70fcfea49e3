/** The name of what no verification can do without: one HMAC over the same bytes. */
export const BARE_HMAC = "one bare HMAC";
