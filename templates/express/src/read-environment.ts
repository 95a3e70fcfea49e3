import { z } from "zod";

/**
 * Checks the variables that `shape` names. An empty one counts as one that is not set.
 *
 * @throws Error that names every variable that is wrong, and says what it must be. Values are not in it: some are secret.
 */
export function readEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
): z.infer<z.ZodObject<Shape>> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const result = z.object(shape).safeParse(set);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
  throw new Error(`The environment is not right (see .env.example):\n${lines.join("\n")}`);
}

/** A secret: any text but blanks. It is not trimmed, since a blank may belong to it. */
export const secret = (): z.ZodType<string> =>
  z.string("is not set: give it the signing secret of your webhook").regex(/\S/, "is blank");

export const wholeNumber = (least: number, most: number): z.ZodType<number> => {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.string().regex(/^\d+$/, message).transform(Number).pipe(z.number().min(least, message).max(most, message));
};

export const address = (...protocols: readonly string[]): z.ZodType<string> =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
    );
