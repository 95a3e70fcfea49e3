import { z } from "zod";

/** An ISO 8601 date-time, with `Z` or an offset (service document, Resources and their fields). */
export const dateTimeSchema = z.iso.datetime({ offset: true });

/**
 * An object that the service sends. Properties that the shape does not list are kept, because the
 * service can add some. They are not in the type, so that a misspelt property does not compile.
 */
export function openObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  return z.looseObject(shape);
}

/** The locales of the service (service document, Resources and their fields). */
export const LOCALES = ["en", "zh-CN"] as const;

/** A language of the service. */
export type ServiceLocale = (typeof LOCALES)[number];

export const localeSchema = z.enum(LOCALES);

/** The parameter `locale` of search demand and rankings: any text of at most 20 characters. */
export const freeLocaleSchema = z
  .string()
  .max(20)
  .default("en")
  .describe(
    "The wanted language, such as en or zh-CN; `resolved_locale` is the language of the answer.",
  );
