import { z } from "zod";

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
