import {
  COMPONENTS,
  type ComponentName,
} from "../../../../src/service/contract/openapi/component-schemas.js";
import { openApiDocument } from "../../../../src/service/contract/openapi/openapi-document.js";
import { createDocumentValidator } from "./document-validator.js";

export const DOCUMENT = openApiDocument();
const { faultsOf } = createDocumentValidator(DOCUMENT);

/**
 * Whether a value is one of a named resource of the contract.
 *
 * @throws when zod, which the emulator and the client read with, and ajv, with the OpenAPI
 * document, do not agree
 */
export function fits(name: ComponentName, value: unknown): boolean {
  const byZod = COMPONENTS[name].safeParse(value).success;
  const faults = faultsOf(name, value);
  if (byZod === (faults.length === 0)) return byZod;
  throw new Error(`zod takes it: ${byZod}; ajv: ${faults.join("; ")}; ${JSON.stringify(value)}`);
}
