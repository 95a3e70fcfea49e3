/** Finds the known name that was probably meant by a misspelt name. */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceBetween(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, Math.floor(wanted.length / 3))
    ? best.candidate
    : undefined;
}

/**
 * The edits between two names. The beginning of a name, such as `tolerance` or `bodyLimit`, is one
 * edit away from it.
 */
function distanceBetween(a: string, b: string): number {
  if (a.length >= 4 && b.startsWith(a)) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
