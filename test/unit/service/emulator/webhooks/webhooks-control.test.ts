import { expect, test } from "vitest";
import type { z } from "zod";
import type { ControlOperation } from "../../../../../src/service/emulator/control/control-operation.js";
import { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";
import { deliveriesControl } from "../../../../../src/service/emulator/webhooks/control/deliveries-control.js";
import { webhooksControl } from "../../../../../src/service/emulator/webhooks/control/webhooks-control.js";
import { serveRecorder } from "../../../../cli/serve-requests.js";
import {
  activeRegistration,
  HOUR_MS,
  openWebhooks,
  serveEndpoint,
  START,
  type WebhookWorld,
} from "./webhook-world.js";

function controlOf(world: WebhookWorld) {
  const assertAccount = (accountId: number): void => {
    if (accountId > 9)
      throw new ServiceError("RESOURCE_NOT_FOUND", "There is no account of this id.");
  };
  return {
    ...webhooksControl(world, world.webhooks, assertAccount),
    ...deliveriesControl(world.webhooks),
  };
}

/** As the control API calls it: what its schema makes of the input. */
function call<Input extends z.ZodType, Result>(
  operation: Omit<ControlOperation, "input" | "run"> & {
    input: Input;
    run(input: z.output<Input>): Result;
  },
  input: unknown,
): Result {
  return operation.run(operation.input.parse(input));
}

test("a signal that waits for its retry is not sent to an endpoint that is not verified", async () => {
  const world = openWebhooks();
  const control = controlOf(world);
  const first = await serveEndpoint((_request, response) => void response.writeHead(500).end());
  const { id: registration_id } = await activeRegistration(world, first.url, {
    signal_types: ["new_model"],
  });
  call(control.publishSignal, { signal_type: "new_model", slug: "larkvoice" });
  await world.scheduler.idle();
  let isReady = false;
  const second = await serveRecorder((request, response) => {
    const { challenge = "" } = (
      JSON.parse(request.body.toString()) as { data: { challenge?: string } }
    ).data;
    response.end(JSON.stringify(isReady ? { challenge } : {}));
  });
  call(control.updateRegistration, { registration_id, url: second.url });
  await world.scheduler.advanceTo(START + HOUR_MS);
  const typesSent = (): unknown[] =>
    second.requests.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type);
  expect(new Set(typesSent())).toEqual(new Set(["webhook.verification"]));
  isReady = true;
  call(control.verifyRegistration, { registration_id });
  await world.scheduler.advanceTo(START + 3 * HOUR_MS);
  expect(typesSent().at(-1)).toBe("signal.published");
});
