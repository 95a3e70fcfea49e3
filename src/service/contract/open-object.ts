import { z } from "zod";

/**
 * An object that the service sends. Properties that the shape does not list are kept, because the
 * service can add some. They are not in the type, so that a misspelt property does not compile.
 */
export function openObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  return z.looseObject(shape);
}
