/**
 * The verifier that the others are compared with: one HMAC over the same bytes, which each of them
 * needs.
 */
export const BARE_HMAC = "one bare HMAC";
