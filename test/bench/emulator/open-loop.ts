import { setTimeout as pause } from "node:timers/promises";

/** A GET to make. */
export interface LoadRequest {
  url: string;
  headers: Record<string, string>;
}

/**
 * Sends each request at its own time, whether or not the ones before it were answered, and counts from that time: a server
 * that stalls delays all who come meanwhile, and each of them shows.
 */
export async function openLoop(
  requests: readonly LoadRequest[],
  perSecond: number,
): Promise<{ latenciesMs: number[]; statuses: Record<string, number> }> {
  const began = performance.now() + 50;
  const statuses: Record<string, number> = {};
  const latenciesMs = await Promise.all(
    requests.map(async ({ url, headers }, index) => {
      const at = began + (index * 1000) / perSecond;
      await pause(Math.max(0, at - performance.now()));
      const answer = await fetch(url, { headers });
      await answer.arrayBuffer();
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      return performance.now() - at;
    }),
  );
  return { latenciesMs, statuses };
}
