import { z } from "zod";

/**
 * Checks the variables that `shape` names. An empty variable counts as not set.
 *
 * @throws Error that names every wrong variable and what it must be. It does not hold values, because some are secret.
 */
export function readEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
): z.infer<z.ZodObject<Shape>> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const result = z.object(shape).safeParse(set);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
  throw new Error(`The environment has mistakes (see .env.example):\n${lines.join("\n")}`);
}

/** Accepts any text that is not blank. It is not trimmed, because a blank can be a part of a secret. */
export const secret = (): z.ZodType<string> =>
  z.string("is not set: set it to the signing secret of your webhook").regex(/\S/, "is blank");

export const wholeNumber = (min: number, max: number): z.ZodType<number> => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.string().regex(/^\d+$/, message).transform(Number).pipe(z.number().min(min, message).max(max, message));
};

export const address = (...protocols: readonly string[]): z.ZodType<string> =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    );
