/** How much of the research data an account may see (service document, Access tiers). */
export interface ResearchView {
  /** Limited Developer Access: page 1, at most 10 rows in any list, one history month, five sector options. */
  isLimited: boolean;
}
