import * as fc from "fast-check";

/** A parameter of the OpenAPI document, as far as values are made from it. */
export interface DescribedParameter {
  name: string;
  schema: {
    type?: string;
    enum?: readonly unknown[];
    minimum?: number;
    maximum?: number;
    maxLength?: number;
    pattern?: string;
  };
  /** Names of things that are there. */
  known?: readonly string[];
}

/** Text that a search may choke on, beside what is random. */
const HOSTILE =
  `" ' % _ * ( ) ; -- -ai ^ai {name}:x <script> ../.. __proto__ constructor null 人工智能 é 🙂 ﷺ Ａ`
    .split(" ")
    .concat("a* OR b", 'NEAR("a" "b")', "ai AND", "  ", "\t", "\u2028");

const anyText = (longest: number): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.constantFrom(...HOSTILE, "🙂".repeat(longest)),
      fc.string({ unit: "grapheme", maxLength: longest }),
    )
    // A NUL is refused for its own sake, and no query can hold half a character.
    .filter(
      (text) => Array.from(text).length <= longest && !text.includes("\0") && text.isWellFormed(),
    );

const notANumber = fc.constantFrom(
  "",
  "x",
  "1e",
  "0x10",
  "NaN",
  "Infinity",
  "1,5",
  " 1",
  "+1",
  "null",
  "१",
);

/** Texts that the parameter takes. */
export function goodValue({ schema, known = [] }: DescribedParameter): fc.Arbitrary<string> {
  if (known.length > 0) {
    return fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...known) },
      goodValue({ name: "", schema }),
    );
  }
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength = 200 } = schema;
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === "integer") {
    const small = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 30) });
    return fc.oneof(small, fc.constantFrom(minimum, maximum), fc.maxSafeNat()).map((value) => {
      return String(Math.min(maximum, Math.max(minimum, value)));
    });
  }
  if (schema.type === "number") {
    return fc
      .oneof(
        fc.constantFrom(minimum, maximum),
        fc.double({ min: minimum, max: maximum, noNaN: true }),
      )
      .map(String);
  }
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  return anyText(maxLength);
}

/** Texts that the parameter refuses. */
export function badValue({ schema }: DescribedParameter): fc.Arbitrary<string> {
  const { minimum = 0, maximum, maxLength = 200 } = schema;
  const beyond = [String(minimum - 1), ...(maximum === undefined ? [] : [String(maximum + 1)])];
  if (schema.enum !== undefined) {
    const known = new Set(schema.enum.map(String));
    return fc
      .oneof(fc.constantFrom("", "another", "0", "4"), anyText(20))
      .filter((text) => !known.has(text));
  }
  if (schema.type === "integer")
    return fc.oneof(notANumber, fc.constantFrom(...beyond, "1.5", "1e3", "01"));
  if (schema.type === "number") return fc.oneof(notANumber, fc.constantFrom(...beyond));
  if (schema.pattern !== undefined) {
    const form = new RegExp(schema.pattern);
    return anyText(20).filter((text) => !form.test(text));
  }
  return fc.constantFrom("a".repeat(maxLength + 1), "🙂".repeat(maxLength + 1));
}

/** The pairs of a query, and whether the operation takes them. */
export interface RandomQuery {
  isGood: boolean;
  pairs: [name: string, text: string][];
}

/**
 * Queries that are good, and queries with one thing wrong: a value, a name that is not known, a
 * name that comes twice.
 */
export function randomQuery(parameters: readonly DescribedParameter[]): fc.Arbitrary<RandomQuery> {
  const names = new Set(parameters.map(({ name }) => name));
  const good = fc
    .subarray([...parameters])
    .chain((some) =>
      fc.tuple(
        ...some.map((parameter) =>
          goodValue(parameter).map((text): [string, string] => [parameter.name, text]),
        ),
      ),
    );
  const unknownName = fc
    .oneof(
      fc.constantFrom("view", "Page", "__proto__", "limit[]", "toString"),
      fc.string({ minLength: 1, maxLength: 12 }),
    )
    .filter((name) => !names.has(name) && !name.includes("\0"));
  const wrongValue = fc
    .constantFrom(...parameters)
    .chain((parameter) =>
      badValue(parameter).map((text): [string, string] => [parameter.name, text]),
    );
  const without = (pairs: readonly [string, string][], name: string): [string, string][] =>
    pairs.filter(([other]) => other !== name);
  return fc.oneof(
    { weight: 3, arbitrary: good.map((pairs): RandomQuery => ({ isGood: true, pairs })) },
    {
      weight: 2,
      arbitrary: fc.tuple(good, wrongValue).map(([pairs, wrong]): RandomQuery => ({
        isGood: false,
        pairs: [...without(pairs, wrong[0]), wrong],
      })),
    },
    fc
      .tuple(good, unknownName)
      .map(([pairs, name]): RandomQuery => ({ isGood: false, pairs: [...pairs, [name, "1"]] })),
    good
      .filter((pairs) => pairs.length > 0)
      .map((pairs): RandomQuery => ({ isGood: false, pairs: [...pairs, pairs[0] ?? ["", ""]] })),
  );
}
