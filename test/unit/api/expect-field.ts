import { expect } from "vitest";
import type { ComponentName } from "../../../src/api/openapi/component-schemas.js";
import { fits } from "./contract.js";
import type { FieldKind } from "./field-kinds.js";

const show = (value: unknown): string => JSON.stringify(value);

/**
 * Holds one field of a resource to its kind: each value that it takes, each that it refuses, and whether it may be left out.
 * The field is given by its name, or by the row whose id ends with it.
 */
export function expectField(resource: ComponentName, row: string, whole: object, field: FieldKind): void {
  const name = /([^/\]]+)\]?$/.exec(row)?.[1] ?? "";
  expect(fits(resource, whole)).toBe(true);
  for (const value of field.takes) expect(fits(resource, { ...whole, [name]: value }), show(value)).toBe(true);
  for (const value of field.refuses) expect(fits(resource, { ...whole, [name]: value }), show(value)).toBe(false);
  const without: Record<string, unknown> = { ...whole };
  delete without[name];
  expect(fits(resource, without), "left out").toBe(field.isOptional === true);
}
