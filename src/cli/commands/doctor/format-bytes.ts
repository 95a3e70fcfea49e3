const UNITS = [
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
] as const;

/** `4.2 MiB`, `512 bytes`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = UNITS.find(([, each]) => bytes >= each) ?? ["bytes", 1];
  const count = bytes / size;
  return `${count < 10 && size > 1 ? count.toFixed(1) : Math.round(count)} ${unit}`;
}
