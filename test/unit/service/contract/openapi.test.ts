import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { format, resolveConfig } from "prettier";
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

// Names, types, bounds and defaults of all fields; addresses, scopes, statuses and headers of all
// operations; the closed bodies of requests and the open ones of answers.
test("the contract is the document's [errors/quota-headers] [event-envelope/created_at] [event-envelope/data] [event-envelope/id] [event-envelope/type] [event-envelope/version] [event-types/signal.published] [event-types/webhook.test] [event-types/webhook.verification] [keyword-row-notes/more-fields] [profile-notes/more-fields] [ranking-item-notes/more-fields] [register-webhook-notes/unknown-keys] [signal-data/change] [signal-data/evidence_summary] [signal-data/observed_at] [signal-data/period] [signal-data/product] [signal-data/published_at] [signal-data/signal_id] [signal-data/signal_type] [signal-data/summary] [signal-data/title] [signal-data/url] [start-investigation-notes/unknown-keys] [versioning/event-version]", async () => {
  const file = join(import.meta.dirname, "golden/openapi.json");
  const style = { ...(await resolveConfig(file)), parser: "json" };
  const text = await format(JSON.stringify(DOCUMENT), style);
  await expect(text).toMatchFileSnapshot(file);
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
