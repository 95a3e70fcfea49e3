/** `ENOENT`, `SQLITE_CANTOPEN`. A message would quote more than a line about it should show. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "error";
}
