import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { signBody } from "../../../../src/kit/senders/signature/sign.js";
import { DOCUMENT } from "./contract.js";
import { createDocumentValidator, resolved } from "./document-validator.js";

type Json = Record<string, unknown>;

/**
 * What an outside linter has against a document: its recommended rules, and those on descriptions,
 * tags and examples.
 */
async function problemsOf(document: unknown): Promise<string[]> {
  const config = await createConfig({
    extends: ["recommended"],
    rules: {
      "operation-description": "error",
      "parameter-description": "error",
      "operation-tag-defined": "error",
      "no-invalid-media-type-examples": "error",
      "no-invalid-parameter-examples": "error",
      "no-invalid-schema-examples": "error",
    },
  });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: "openapi.json",
    config,
  });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
  );
}

test("an outside linter finds nothing, with its recommended rules", async () => {
  expect(await problemsOf(DOCUMENT)).toEqual([]);
});

test("the signature header is described as it is made", () => {
  const { faultsOf } = createDocumentValidator(DOCUMENT);
  for (const [type, { post }] of Object.entries(DOCUMENT.webhooks)) {
    const [parameter] = (post["parameters"] as Json[]).map((reference) =>
      resolved(DOCUMENT, reference),
    );
    expect(parameter, type).toMatchObject({
      name: "X-Service-Signature",
      in: "header",
      required: true,
    });
    const schema = parameter?.["schema"] as Json;
    const value = signBody({ body: "{}", secret: "whsec_of_a_test", timestamp: 1_772_442_900 });
    expect(faultsOf(schema, value)).toEqual([]);
    expect(faultsOf(schema, value.toUpperCase())).not.toEqual([]);
    expect(faultsOf(schema, `${value},v1=${"0".repeat(64)}`)).not.toEqual([]);
  }
});
