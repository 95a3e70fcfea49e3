/** Any part of a value, however deep. */
export type DeepPartial<Value> = unknown extends Value
  ? Value
  : Value extends readonly unknown[] | string | number | boolean | null
    ? Value
    : { [Key in keyof Value]?: DeepPartial<Value[Key]> };

/** Objects are merged, everything else is replaced. An override of `undefined` means absent. */
export function mergeOverrides<Value>(base: Value, overrides: NoInfer<DeepPartial<Value>>): Value {
  return merge(base, overrides) as Value;
}

function merge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isPlainObject(base) || !isPlainObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = merge(base[key], value);
  return merged;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
