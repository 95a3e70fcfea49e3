import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { secretFile } from "../../../src/kit/index.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { createEmulator } from "../../../src/service/emulator/index.js";
import { usualDatabase } from "../../emulator/start-emulator.js";
import { startReceiver } from "../../http/serve.js";
import { callCli } from "../call-cli.js";
import type { CliRun } from "../run-cli.js";
import { listen, serveRecorder } from "../serve-requests.js";
import { tempFiles } from "../temp-files.js";
import { answerJson, serveChallenges, serveService } from "./serve-service.js";

/**
 * Registers a receiver at a service that does not tell the status, and waits for at most three seconds.
 */
async function register(url: string, ...args: string[]): Promise<CliRun> {
  const { access } = await serveService();
  const into = ["--secret-file", join(tempFiles(), "signals.secret"), "--timeout", "3"];
  return callCli(["register", "--url", url, "--types", "new_model", ...into, ...access, ...args]);
}

test("it waits for a receiver that is not ready yet, and says so; the rest is for the dashboard to show", async () => {
  let requests = 0;
  const { url } = await serveRecorder(({ body }, response) => {
    requests += 1;
    if (requests === 1) return answerJson(response, 502, {});
    const { data } = JSON.parse(body.toString()) as { data: { challenge: string } };
    answerJson(response, 200, { challenge: data.challenge });
  });
  const run = await register(url, "--timeout", "30");
  expect(run.exitCode).toBe(0);
  expect(run.stderr).toMatch(/waiting up to \d+ s: 502: /);
  expect(run.stdout).toMatch(/the receiver answers verifications with this secret\n.*dashboard/);
});

test("a service on this machine that never answers a call of the control API is no emulator", async () => {
  const silent = (): void => undefined;
  const run = await register(
    await serveChallenges(),
    ...(await serveService(undefined, silent)).access,
  );
  expect(run).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("the receiver answers verifications"),
  });
});

test.each([undefined, "token_of_the_test"])(
  "at an emulator it waits until both are active, and has a verification that failed repeated; control token: %s",
  async (controlToken) => {
    const assumptions = {
      allowLoopbackHttp: true,
      signatureClock: "machine",
      retrySeconds: "86400",
    } as const;
    const emulator = createEmulator({
      port: 0,
      db: await usualDatabase(),
      assumptions,
      controlToken,
    });
    await emulator.start();
    onTestFinished(() => emulator.close());
    const { account_id } = await emulator.control.createAccount({ tier: "pro" });
    const { key } = await emulator.control.createKey({ account_id });

    const path = join(tempFiles(), "signals.secret");
    const receiver = await startReceiver({ secrets: secretFile(path) });
    const handle = nodeHandler(receiver);
    let deliveries = 0;
    const url = await listen((request, response) => {
      deliveries += 1;
      if (deliveries === 1) response.writeHead(500).end();
      else handle(request, response);
    });
    const access = { SIGNALS_BASE_URL: emulator.baseUrl, SIGNALS_API_KEY: key };
    const env = {
      ...access,
      ...(controlToken !== undefined && { SIGNALS_CONTROL_TOKEN: controlToken }),
    };
    const run = await callCli(["register", "--url", url, "--all-types", "--secret-file", path], {
      env,
    });
    expect(run).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/\nall 2 registrations are active\n$/),
    });
    const { items: registrations } = await emulator.control.listRegistrations({});
    expect(registrations.map(({ status }) => status)).toEqual(["active", "active"]);
  },
);
