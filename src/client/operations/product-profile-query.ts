import { z } from "zod";
import { localeSchema, type ServiceLocale } from "../../api/locale.js";

/** What `productProfile` takes beside the slug. */
export interface ProductProfileQuery {
  /**
   * The language of the profile's texts. The document lists no parameter of this operation, but its answer tells which locale was
   * requested and which it has; it is sent as `locale`, as in the other operations. @default not sent
   */
  locale?: ServiceLocale | undefined;
}

export const productProfileQuerySchema = z.strictObject({ locale: localeSchema.optional() });
