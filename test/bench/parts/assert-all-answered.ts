import type { LoadReport } from "../load/generator.js";
import type { Server } from "../servers/catalogue.js";

/**
 * A server that refuses is fast, and a broken connection is no figure.
 *
 * @throws Error which says what came instead of 200
 */
export function assertAllAnswered(
  { label }: Pick<Server, "label">,
  {
    sent,
    answered,
    statuses,
    refusal,
    failure,
  }: Pick<LoadReport, "sent" | "answered" | "statuses" | "refusal" | "failure">,
): void {
  if (failure !== null) throw new Error(`${label}: ${failure}`);
  const isFine = answered > 0 && sent === answered && Object.keys(statuses).every((status) => status === "200");
  const byStatus = JSON.stringify(statuses);
  if (!isFine) throw new Error(`${label}: ${sent} sent, ${answered} answered, by status ${byStatus} ${refusal ?? ""}`);
}
