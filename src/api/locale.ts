import { z } from "zod";

/** The locales that the service has (service document, Resources and their fields). */
export const LOCALES = ["en", "zh-CN"] as const;

/** A locale that the service has. */
export type ServiceLocale = (typeof LOCALES)[number];

export const localeSchema = z.enum(LOCALES);

/** What the two research GET operations accept: any text of at most 20 characters. */
export const freeLocaleSchema = z
  .string()
  .max(20)
  .default("en")
  .describe("The language to answer in; `resolved_locale` is the language of the answer.");
