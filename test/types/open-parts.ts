import type { Logger } from "pino";

/**
 * The places in a type at which any name would compile: what is `any`, and what has any text for a
 * key. `never` where a misspelt name is a mistake everywhere: in a value, in what its functions
 * take, and in what they give.
 */
export type OpenParts<T, Path extends string = ""> = 0 extends 1 & T
  ? Path
  : T extends Leaf
    ? never
    : T extends PromiseLike<infer Value> | AsyncIterable<infer Value> | readonly (infer Value)[]
      ? OpenParts<Value, Path>
      : T extends (...given: infer Given) => infer Gave
        ? OpenParts<Given, `${Path}()`> | OpenParts<Gave, Path>
        : T extends object
          ? string extends keyof T
            ? Path
            : { [Key in keyof T & string]-?: OpenParts<T[Key], `${Path}.${Key}`> }[keyof T & string]
          : never;

/** What has no names, and types that are not the package's own. */
type Leaf = string | number | boolean | AbortSignal | Date | Error | Logger | Uint8Array | URL;
