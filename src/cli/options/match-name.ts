/** A pattern with a `*` fits the whole name; one without is looked for in it. */
export function matchesName(name: string, pattern: string): boolean {
  if (!pattern.includes("*")) return name.includes(pattern);
  const source = pattern
    .split("*")
    .map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`, "s").test(name);
}
