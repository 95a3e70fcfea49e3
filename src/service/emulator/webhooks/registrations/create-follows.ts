import type { EmulatorCore } from "../../instance/core.js";
import { ServiceError } from "../../operations/service-error.js";

/** A product that an account follows. */
export interface Follow {
  tool_id: number;
  slug: string;
  /** Date-time. */
  followed_at: string;
}

/**
 * Stores which products each account follows. An account gets signals only about these products.
 */
export function createFollows({ database, clock }: EmulatorCore) {
  const idOf = database
    .prepare<[string], number>("SELECT tool_id FROM product WHERE slug = ?")
    .pluck();
  const insert = database.prepare<[number, number, number]>(
    "INSERT OR IGNORE INTO follow (account_id, tool_id, followed_at) VALUES (?, ?, ?)",
  );
  const remove = database.prepare<[number, number]>(
    "DELETE FROM follow WHERE account_id = ? AND tool_id = ?",
  );
  const select = database.prepare<[number], Follow & { followed_at: number }>(
    `SELECT f.tool_id, p.slug, f.followed_at FROM follow f JOIN product p USING (tool_id)
     WHERE f.account_id = ? ORDER BY p.slug`,
  );

  function toolId(slug: string, parameter: string): number {
    const id = idOf.get(slug);
    if (id !== undefined) return id;
    const problem = "there is no product with this slug";
    throw new ServiceError("PRODUCT_NOT_FOUND", `${parameter}: ${problem}.`, {
      details: [{ parameter, problem }],
    });
  }

  return {
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    follow: database.transaction((accountId: number, slugs: readonly string[]) => {
      for (const [index, slug] of slugs.entries())
        insert.run(accountId, toolId(slug, `slugs.${index}`), clock.now());
    }),
    /** @throws ServiceError `PRODUCT_NOT_FOUND` */
    unfollow(accountId: number, slug: string): void {
      remove.run(accountId, toolId(slug, "slug"));
    },
    list: (accountId: number): Follow[] =>
      select
        .all(accountId)
        .map((follow) => ({ ...follow, followed_at: new Date(follow.followed_at).toISOString() })),
  };
}
