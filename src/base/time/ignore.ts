/**
 * For callbacks whose call has no consequence, such as that of a rejection that was reported
 * elsewhere.
 */
export function ignore(): void {}
