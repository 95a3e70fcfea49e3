/** Connections of what writes each event by itself. */
export const POOL_SIZE = 10;
