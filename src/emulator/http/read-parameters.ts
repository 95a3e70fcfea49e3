import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Operation } from "../../api/operations.js";
import { freeLocaleSchema } from "../../api/locale.js";
import type { Assumptions } from "../instance/assumptions.js";
import { ServiceError } from "../operations/service-error.js";
import { queryPairs } from "./query-pairs.js";
import { readBody } from "./read-body.js";
import { readJsonBody } from "./read-json-body.js";
import { readQuery } from "./read-query.js";

/** Far more than any body of the document needs. */
const BODY_LIMIT_BYTES = 64 * 1024;

/** Of an operation that has none: whatever is asked for is not known. */
const NO_QUERY = z.strictObject({});

/**
 * Takes in what an operation is given. The bytes are read here, what they say by the function that is returned.
 *
 * @throws ServiceError INVALID_BODY for a body that is too large
 */
export async function readParameters(
  operation: Operation,
  request: IncomingMessage,
  { profileLocale }: Pick<Assumptions, "profileLocale">,
): Promise<() => Record<string, unknown>> {
  const query = queryOf(request);
  if (operation.scope === null) return () => ({ locale: profileLocale ? publicLocale(query) : "en" });
  const { body } = operation;
  if (body === undefined) return () => readQuery(query, operation.query ?? NO_QUERY);
  const bytes = await readBody(request, BODY_LIMIT_BYTES);
  // Nobody reads this answer.
  if (bytes === null) throw new ServiceError("INVALID_BODY", "The body ended early.");
  return () => {
    readQuery(query, NO_QUERY);
    return readJsonBody(request.headers, bytes, body);
  };
}

/** A public operation has no error for a parameter, so what is wrong is not there. */
function publicLocale(query: string): string {
  const given = queryPairs(query).pairs.find(([name]) => name === "locale")?.[1];
  return freeLocaleSchema.catch("en").parse(given);
}

/** The query of a request, without its question mark. */
export function queryOf({ url = "" }: IncomingMessage): string {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
}
