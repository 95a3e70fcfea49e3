/** When the examples happened. */
export const EXAMPLE_TIME = "2026-03-02T09:15:00.000Z";
