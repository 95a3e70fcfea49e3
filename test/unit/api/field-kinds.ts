/** Values that a field takes, and values that it does not. */
export interface FieldKind {
  takes: readonly unknown[];
  refuses: readonly unknown[];
  /** Whether it may be left out. */
  isOptional?: boolean;
}

const kind = (takes: readonly unknown[], refuses: readonly unknown[]): FieldKind => ({ takes, refuses });

export const text = kind(["", "a text", "文"], [null, 1, true, [], {}]);
export const integer = kind([0, 1, 12_400], [null, 0.5, "1", true, []]);
export const count = kind([0, 1, 12_400], [-1, 0.5, null, "1"]);
export const number = kind([0, 0.5, -3, 12_400], [null, "1", true, []]);
export const boolean = kind([true, false], [null, 0, "true"]);
export const dateTime = kind(
  ["2026-03-02T09:15:00Z", "2026-03-02T09:15:00.123Z", "2026-03-02T17:15:00+08:00"],
  [null, "2026-03-02", "2026-03-02 09:15", "yesterday", 1_772_442_900, "2026-13-02T09:15:00Z"],
);
export const anObject = kind([{}, { any: 1 }], [null, "text", 1, []]);
export const objects = kind([[], [{}], [{ any: 1 }, {}]], [null, {}, ["text"], [null]]);
export const texts = kind([[], ["a text"]], [null, "a text", [1], [null]]);

/** One of these texts. */
export const oneOf = (...values: readonly string[]): FieldKind => kind(values, [null, "", "another", 1, [values[0]]]);

/** The same or null. */
export const orNull = ({ takes, refuses, ...rest }: FieldKind): FieldKind => ({
  ...rest,
  takes: [...takes, null],
  refuses: refuses.filter((value) => value !== null),
});

/** The same, and it may be left out. */
export const optional = (field: FieldKind): FieldKind => ({ ...field, isOptional: true });

/** An object with these fields, each there, and room for more. */
export function shape(fields: Readonly<Record<string, FieldKind>>): FieldKind {
  const whole = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.takes[0]]));
  const variants = Object.entries(fields).flatMap(([name, { takes, refuses, isOptional = false }]) => {
    const { [name]: _left, ...without } = whole;
    return [
      ...takes.map((value) => ({ isTaken: true, value: { ...whole, [name]: value } })),
      ...refuses.map((value) => ({ isTaken: false, value: { ...whole, [name]: value } })),
      { isTaken: isOptional, value: without },
    ];
  });
  const those = (isTaken: boolean): unknown[] =>
    variants.filter((variant) => variant.isTaken === isTaken).map(({ value }) => value);
  return kind([whole, { ...whole, a_field_of_tomorrow: 1 }, ...those(true)], [null, "text", [], ...those(false)]);
}

/** A list of it. */
export const listOf = ({ takes, refuses }: FieldKind): FieldKind =>
  kind([[], [...takes]], [null, {}, ...refuses.map((value) => [value])]);
