import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { signBody } from "../../../../src/kit/senders/signature/sign.js";
import type { ComponentName } from "../../../../src/service/contract/openapi/component-schemas.js";
import { openApiDocument } from "../../../../src/service/contract/openapi/openapi-document.js";
import {
  OPERATIONS,
  type Operation,
  type OperationName,
} from "../../../../src/service/contract/operations.js";
import { createDocumentValidator, operationsOf, resolved } from "./document-validator.js";

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
  expect(await problemsOf(openApiDocument())).toEqual([]);
});

/** The resource in the answer of each operation. */
const ANSWERS: Record<OperationName, ComponentName> = {
  startInvestigation: "InvestigationTask",
  readInvestigation: "InvestigationTask",
  registerWebhook: "NewRegistration",
  productProfile: "ProductProfile",
  searchDemand: "SearchDemandResponse",
  rankings: "RankingsResponse",
};

test.each(Object.entries(OPERATIONS) as [string, Operation][])(
  "%s is described as it is",
  (name, operation) => {
    const { method, path, scope, acceptsSession, response, errors } = operation;
    const document = openApiDocument();
    const described = document.paths[path]?.[method.toLowerCase()] as Json;
    expect(described["operationId"]).toBe(name);

    expect(Object.keys(described["responses"] as Json).map(Number)).toEqual([
      response.status,
      ...errors,
    ]);
    const schema = { $ref: `#/components/schemas/${ANSWERS[name as OperationName]}` };
    expect((described["responses"] as Json)[response.status]).toMatchObject({
      content: { "application/json": { schema } },
    });
    for (const status of errors) {
      const error = resolved(document, (described["responses"] as Json)[status]);
      expect(error["content"]).toMatchObject({
        "application/json": { schema: { $ref: "#/components/schemas/ErrorEnvelope" } },
      });
    }

    const session = acceptsSession ? [{ sessionToken: [] }] : [];
    expect(described["security"]).toEqual(scope === null ? [] : [{ apiKey: [scope] }, ...session]);

    // Those of the query are in `fields.test.ts`.
    const parameters = (described["parameters"] ?? []) as { name: string; in: string }[];
    const inPath = parameters
      .filter((parameter) => parameter.in === "path")
      .map((parameter) => parameter.name);
    expect(inPath.map((inside) => `{${inside}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
  },
);

test("the quota headers stand on the answers of what needs a key, and on 429 [errors/quota-headers]", () => {
  const document = openApiDocument();
  const names = ["X-Quota-Limit", "X-Quota-Remaining", "X-Quota-Policy", "X-Quota-Reset"];
  expect(Object.keys(document.components["headers"] ?? {})).toEqual(names);
  for (const [name, { scope, response }] of Object.entries(OPERATIONS)) {
    const responses = operationsOf(document).get(name)?.["responses"] as Record<string, Json>;
    const headers = Object.keys(responses[response.status]?.["headers"] ?? {});
    expect(headers, name).toEqual(scope === null ? [] : names);
    const limited = responses[429] && resolved(document, responses[429])["headers"];
    expect(limited === undefined ? [] : Object.keys(limited as Json), name).toEqual(
      scope === null ? [] : names,
    );
  }
});

test("the signature header is described as it is made", () => {
  const document = openApiDocument();
  const { faultsOf } = createDocumentValidator(document);
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const [parameter] = (post["parameters"] as Json[]).map((reference) =>
      resolved(document, reference),
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
