import { z } from "zod";

/** An ISO 8601 date-time, with `Z` or an offset (service document, Resources and their fields). */
export const dateTimeSchema = z.iso.datetime({ offset: true });
