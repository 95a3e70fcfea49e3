/** What all copies of this package in the process share, such as two versions of it. */
export function processWide<Value>(name: string, make: () => Value): Value {
  const known = globalThis as unknown as Record<symbol, Value | undefined>;
  return (known[Symbol.for(name)] ??= make());
}
