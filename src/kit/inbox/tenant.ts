/** What the name of a tenant looks like. It has no slash, so that ids of two tenants never meet. */
export const TENANT = /^[a-z0-9_-]{1,64}$/;

/**
 * The id under which an event of a tenant is stored, and what a key of the option `order` becomes:
 * no two tenants have one in common, whatever the id or key contains.
 *
 * @param tenant undefined without the option `tenant`
 */
export function ofTenant(tenant: string | undefined, text: string): string {
  return tenant === undefined ? text : `${tenant}/${text}`;
}

/** The tenant in the id of an event that was stored with one. */
export function tenantIn(storedId: string): string {
  return storedId.slice(0, storedId.indexOf("/"));
}
