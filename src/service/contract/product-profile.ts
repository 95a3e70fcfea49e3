import { z } from "zod";
import { dateTimeSchema, openObject } from "./shared-schemas.js";

const optionalText = z.string().nullable().optional();

/** The public product profile (service document, Product profile). */
export const productProfileSchema = openObject({
  tool_id: z.int(),
  canonical_slug: z.string(),
  localized_slug: z.string(),
  name: z.string(),
  tagline: optionalText,
  short_description: optionalText,
  long_description: optionalText,
  official_url: z.string(),
  pricing_model: z.string(),
  listed_at: dateTimeSchema,
  verification_status: z
    .string()
    .describe("Whether the profile was verified, such as `verified` or `pending`."),
  staleness_status: z.string(),
  has_free_plan: z.boolean(),
  has_free_trial: z.boolean(),
  has_api: z.boolean(),
  has_mcp: z.boolean(),
  requested_locale: z.string(),
  resolved_locale: z.string(),
  available_locales: z.array(z.string()).describe("The languages in which this profile exists."),
  categories: z.array(z.looseObject({})),
  logo_url: optionalText,
  favicon_url: optionalText,
  screenshot_url: optionalText,
  primary_category_slug: optionalText,
  primary_category_name: optionalText,
}).describe("The public profile of a product.");

/** A product of the public catalog. */
export type ProductProfile = z.infer<typeof productProfileSchema>;
