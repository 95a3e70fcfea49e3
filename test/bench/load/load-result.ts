export interface LoadResult {
  sent: number;
  answered: number;
  /** How often each status was answered. */
  statuses: Record<string, number>;
  /** The body of an answer that was no 200, if one was not. */
  refusal: string | null;
  /** Why a connection broke, if one did. */
  failure: string | null;
  /** From the first request to the last answer. */
  elapsedMs: number;
  /** The generator's own use of one core, 0 to 1 and a little above: threads count too. */
  generatorBusy: number;
  /**
   * How late the generator itself was with what had a free connection, sorted. A closed loop has no
   * schedule.
   */
  lateMs: Float64Array;
  /** Sorted. */
  latenciesMs: Float64Array;
}
