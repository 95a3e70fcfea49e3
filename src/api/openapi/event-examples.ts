import type { z } from "zod";
import type { signalPublishedSchema, webhookTestSchema, webhookVerificationSchema } from "../sent-events.js";
import { EXAMPLE_TIME } from "./example-time.js";

/** An example of each event that is sent. */
export const EVENT_EXAMPLES: {
  signal: z.input<typeof signalPublishedSchema>;
  verification: z.input<typeof webhookVerificationSchema>;
  test: z.input<typeof webhookTestSchema>;
} = {
  signal: {
    id: "sig_5120_1042",
    version: "1",
    type: "signal.published",
    created_at: EXAMPLE_TIME,
    data: {
      signal_id: 5120,
      signal_type: "traffic_breakout",
      product: { id: 1042, slug: "aurora-notes" },
      title: "Traffic of Aurora Notes broke out",
      summary: "Visits rose by 31.4 percent within a month.",
      change: {
        direction: "up",
        magnitude: 0.314,
        before: { value: 100_000, unit: "visits" },
        after: { value: 131_400, unit: "visits" },
      },
      observed_at: "2026-03-01T00:00:00.000Z",
      period: { start: "2026-02-01", end: "2026-02-28" },
      published_at: EXAMPLE_TIME,
      evidence_summary: "Monthly visits of January and February.",
      url: "https://service.example/products/aurora-notes",
    },
  },
  verification: {
    id: "evt_2c9a71",
    version: "1",
    type: "webhook.verification",
    created_at: EXAMPLE_TIME,
    data: { challenge: "c5f0e1b2a9d84376" },
  },
  test: {
    id: "evt_2c9a72",
    version: "1",
    type: "webhook.test",
    created_at: EXAMPLE_TIME,
    data: { message: "This is a test." },
  },
};
