import { expect, test } from "vitest";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { expectRefused } from "../expect-answer.js";
import { delivery, listen, roundTrip, startReceiver } from "../serve.js";
import { headOf, openWire } from "../wire.js";

test.for([
  [delivery(undefined, { secret: "another" }).headers, "signature_mismatch"],
  [{}, "signature_missing"],
] as const)(
  "a forged or unsigned delivery is answered once its request is complete, as the host's own handlers do: %j",
  async ([headers, code]) => {
    const handler = nodeHandler(await startReceiver());
    const completeAtAnswer: boolean[] = [];
    const order: string[] = [];
    const port = await listen((request, response) => {
      const { end } = response;
      response.end = ((...args: Parameters<typeof end>) => {
        completeAtAnswer.push(request.complete);
        return end.apply(response, args);
      }) as typeof end;
      request.on("end", () => order.push("request ended"));
      response.on("finish", () => order.push("response finished"));
      handler(request, response);
    });
    const { body } = delivery();
    const wire = await openWire(port);
    await wire.write(headOf(headers, body.byteLength));
    // The head is read on its own, and so the body comes when the request flows.
    await roundTrip(port);
    completeAtAnswer.length = order.length = 0;
    await wire.write(body);
    expectRefused(await wire.next(), 401, code);
    expect([completeAtAnswer, order]).toEqual([[true], ["request ended", "response finished"]]);
  },
);
