/** `ENOENT`, `SQLITE_CANTOPEN`; for a finding, which quotes no more of an error. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "error";
}
