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

type Texts = fc.Arbitrary<string>;

/** Texts that the parameter takes, and texts that it refuses. */
function valuesOf(schema: DescribedParameter["schema"]): { good: Texts; bad: Texts } {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, maxLength = 200 } = schema;
  const bounds = { min: minimum, max: maximum };
  const beyond = [minimum - 1, ...(schema.maximum === undefined ? [] : [maximum + 1])].map(String);
  const borders = fc.constantFrom(minimum, maximum);
  if (schema.enum !== undefined) {
    const names = schema.enum.map(String);
    const others = fc.oneof(fc.constantFrom("", "another", "0", "4"), anyText(20));
    return { good: fc.constantFrom(...names), bad: others.filter((text) => !names.includes(text)) };
  }
  if (type === "integer")
    return {
      good: fc
        .oneof(fc.nat({ max: 30 }), fc.integer(bounds), borders)
        .map((value) => String(Math.min(maximum, Math.max(minimum, value)))),
      bad: fc.oneof(notANumber, fc.constantFrom(...beyond, "1.5", "1e3", "01")),
    };
  if (type === "number")
    return {
      good: fc.oneof(borders, fc.double({ ...bounds, noNaN: true })).map(String),
      bad: fc.oneof(notANumber, fc.constantFrom(...beyond)),
    };
  if (schema.pattern === undefined)
    return {
      good: anyText(maxLength),
      bad: fc.constantFrom("a".repeat(maxLength + 1), "🙂".repeat(maxLength + 1)),
    };
  const form = new RegExp(schema.pattern);
  return { good: fc.stringMatching(form), bad: anyText(20).filter((text) => !form.test(text)) };
}

type Pair = [name: string, text: string];

/** The pairs of a query, and whether the operation takes them. */
export interface RandomQuery {
  isGood: boolean;
  pairs: Pair[];
}

/**
 * Queries that are good, and queries with one thing wrong: a value, a name that is not known, a
 * name that comes twice.
 */
export function randomQuery(parameters: readonly DescribedParameter[]): fc.Arbitrary<RandomQuery> {
  const names = new Set(parameters.map(({ name }) => name));
  const goodPair = ({ name, schema, known = [] }: DescribedParameter): fc.Arbitrary<Pair> => {
    const { good } = valuesOf(schema);
    const texts =
      known.length === 0
        ? good
        : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, good);
    return texts.map((text) => [name, text]);
  };
  const badPair = ({ name, schema }: DescribedParameter): fc.Arbitrary<Pair> =>
    valuesOf(schema).bad.map((text) => [name, text]);
  const good = fc.subarray([...parameters]).chain((some) => fc.tuple(...some.map(goodPair)));
  const unknownName = fc
    .oneof(
      fc.constantFrom("view", "Page", "__proto__", "limit[]", "toString"),
      fc.string({ minLength: 1, maxLength: 12 }),
    )
    .filter((name) => !names.has(name) && !name.includes("\0"));
  const wrong = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...parameters).chain(badPair) },
    unknownName.map((name): Pair => [name, "1"]),
  );
  const isBad = (pairs: Pair[]): RandomQuery => ({ isGood: false, pairs });
  return fc.oneof(
    { weight: 3, arbitrary: good.map((pairs): RandomQuery => ({ isGood: true, pairs })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(good, wrong)
        .map(([pairs, bad]) => isBad([...pairs.filter(([name]) => name !== bad[0]), bad])),
    },
    good.filter((pairs) => pairs.length > 0).map((pairs) => isBad([...pairs, pairs[0] as Pair])),
  );
}
