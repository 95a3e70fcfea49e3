import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { builtInSender } from "../../../src/kit/senders/built-in.js";
import { testReceiver } from "../../../src/kit/testing/index.js";
import { tempFolder } from "../../unit/temp-folder.js";
import { runCli } from "../run-cli.js";

const PUBLIC_URL = "https://hooks.example/webhooks/twilio";
const secretOf = (name: string): string =>
  name === "svix" ? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" : "whsec_cli_7";

/** A receiver of this sender on a port, and the command line with its secret. */
async function start(name: string) {
  const sender = builtInSender(name, { publicUrl: PUBLIC_URL })!;
  const secret = secretOf(name);
  const clock = systemClock as never;
  const { receiver } = await testReceiver({
    sender,
    secrets: secret,
    clock,
    onEvent: () => undefined,
  });
  const server = createServer(nodeHandler(receiver));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.close();
    await receiver.close();
  });
  const folder = tempFolder();
  const flags = ["--sender", name, ...(name === "twilio" ? ["--public-url", PUBLIC_URL] : [])];
  return {
    receiver,
    flags,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    file(content: string): string {
      const path = join(folder, "body");
      writeFileSync(path, content);
      return path;
    },
    run: (args: readonly string[], given = secret) =>
      runCli([...args, ...flags], {
        cwd: folder,
        env: { [`${name.toUpperCase()}_WEBHOOK_SECRET`]: given },
      }),
  };
}

test.each(["stripe", "github", "svix", "slack", "twilio"])(
  "%s: sign, verify, send and doctor go together",
  async (name) => {
    const { receiver, run, url, file } = await start(name);
    const body =
      name === "twilio" ? "MessageSid=SM1&MessageStatus=sent" : '{"id":"evt_1","type":"a"}';
    const signed = await run(["sign", file(body)]);
    expect(signed.exitCode).toBe(0);
    const headers = signed.lines.flatMap((line) => ["-H", line]);
    const verified = await run(["verify", file(body), ...headers]);
    expect(verified.stdout).toMatch(
      name === "github" || name === "twilio"
        ? /^valid: signed by its sender/
        : /^valid: signed \d s ago/,
    );
    expect(verified.stdout).toMatch(/\n {2}event .*type /);

    const sent = await run(["send", "sample", "--url", url, "--count", "2", "--json"]);
    expect(sent.exitCode).toBe(0);
    expect(await receiver.inbox.list()).toHaveLength(2);
    const again = await run(["send", "sample", "--url", url, "--count", "2", "--duplicate"]);
    expect(again.exitCode).toBe(0);
    expect(await receiver.inbox.list()).toHaveLength(3);
    expect((await run(["send", "sample", "--url", url, "--tamper"])).stdout).toContain("401");

    const isTimed = name !== "github" && name !== "twilio";
    const examined = await run(["doctor", "--url", url]);
    expect(examined.stdout).toContain("[forgery_refused]");
    expect(examined.stdout).toContain(isTimed ? "[secret]" : "[secret_not_tried]");
    expect(await receiver.inbox.list()).toHaveLength(3);
    const wrong = await run(
      ["doctor", "--url", url, ...(isTimed ? [] : ["--test-event"])],
      "whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyISEh",
    );
    expect(wrong.stdout).toContain("[secret_unknown]");
    expect(wrong.exitCode).toBe(1);
  },
);

test("send posts an event of a type, as the sender makes it, and with values that are set", async () => {
  const stripe = await start("stripe");
  const paid = ["send", "invoice.paid", "--url", stripe.url];
  expect((await stripe.run([...paid, "--count", "2"])).exitCode).toBe(0);
  expect((await stripe.run([...paid, "--set", "id=evt_mine"])).exitCode).toBe(0);
  const entries = await stripe.receiver.inbox.list();
  expect(entries.map(({ type }) => type)).toEqual(["invoice.paid", "invoice.paid", "invoice.paid"]);
  expect(entries.map(({ eventId }) => eventId)).toContain("evt_mine");
  const github = await start("github");
  expect(
    (
      await github.run([
        "send",
        "issues.opened",
        "--url",
        github.url,
        "--count",
        "2",
        "--duplicate",
      ])
    ).exitCode,
  ).toBe(0);
  expect(await github.receiver.inbox.list()).toMatchObject([{ type: "issues", subtype: "opened" }]);
});

const PRETTY = '{\n  "id": "evt_1",\n  "type": "a"\n}';

test("verify names the usual mistakes", async () => {
  const stripe = await start("stripe");
  const signed = (
    await stripe.run(["sign", stripe.file(PRETTY), "--timestamp", "1795255200"])
  ).stdout.trim();
  const verify = async (
    content: string,
    header: string,
    { now = "1795255203", secret = secretOf("stripe") } = {},
  ) =>
    (await stripe.run(["verify", stripe.file(content), "-H", header, "--now", now], secret)).stdout;

  expect(await verify(PRETTY, signed)).toMatch(/^valid/);
  expect(await verify(JSON.stringify(JSON.parse(PRETTY)), signed)).toMatch(
    /signed as JSON indented by 2.*raw bytes/,
  );
  expect(await verify(PRETTY, signed, { now: "1795255600" })).toMatch(
    /signed 400 s ago, and the tolerance is 300 s/,
  );
  expect(await verify(PRETTY, signed, { secret: "cli_7" })).toContain("lacks its prefix whsec_");
  expect(await verify(PRETTY, signed, { secret: '"whsec_cli_7"' })).toContain(
    "has quotes around it",
  );
  expect(
    await verify(
      PRETTY,
      signed.replace(/v1=.*/, (text) => text.toUpperCase().replace("V1", "v1")),
    ),
  ).toMatch(/signature_malformed\n.*lowercase/);
  expect(await verify(PRETTY, "X-Other: 1")).toMatch(/signature_missing\n.*stripe-signature/);

  // The text of the secret was used where its base64 is the key.
  const svix = await start("svix");
  const header = (
    await svix.run(["sign", svix.file(PRETTY)], Buffer.from(secretOf("svix")).toString("base64"))
  ).lines;
  const flags = header.flatMap((line) => ["-H", line]);
  expect((await svix.run(["verify", svix.file(PRETTY), ...flags])).stdout).toContain(
    "used the text of the secret as the key",
  );
  // The headers of another sender.
  const github = await start("github");
  const hub = (await github.run(["sign", github.file(PRETTY)])).lines.flatMap((line) => [
    "-H",
    line,
  ]);
  expect((await stripe.run(["verify", stripe.file(PRETTY), ...hub])).stdout).toContain(
    "give --sender github",
  );
});

test("doctor names the mistake in the receiver's secret, and a receiver of another sender", async () => {
  const { receiver, run, url } = await start("stripe");
  const mistaken = await run(["doctor", "--url", url], "cli_7");
  expect(mistaken.stdout).toContain("[secret_lacks_prefix]");
  expect(await receiver.inbox.list()).toEqual([]);
  const other = await start("github");
  const asked = await run(["doctor", "--url", other.url]);
  expect(asked.stdout).toMatch(/finds no signature of stripe \[signature_lost\]/);
  expect(asked.exitCode).toBe(1);
  // The sample tries the secret, and is the test event too.
  expect((await other.run(["doctor", "--url", other.url, "--test-event"])).stdout).toContain(
    "[event_stored]",
  );
  expect(await other.receiver.inbox.list()).toHaveLength(1);
});

test("send names what a file of GitHub lacks, and refuses what is no file or no header", async () => {
  const { receiver, run, url, file } = await start("github");
  const push = file('{"ref":"refs/heads/main"}');
  expect((await run(["send", push, "--url", url])).stderr).toMatch(
    /x-github-event is that of the sample: issues; .*-H/,
  );
  const given = await run(["send", push, "--url", url, "-H", "X-GitHub-Event: push"]);
  expect([given.stderr, given.exitCode]).toEqual(["", 0]);
  expect((await receiver.inbox.list()).map(({ type }) => type)).toContain("push");
  const unknown = await run(["send", "pushh", "--url", url]);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.stderr).toMatch(
    /neither a file nor a type of github; did you mean push\?.*issues\.opened/s,
  );
  expect((await run(["send", push, "--url", url, "-H", "push"])).stderr).toContain("a colon");
});

test("an unknown sender, a missing secret and a missing address are named", async () => {
  const unknown = await runCli([
    "send",
    "sample",
    "--sender",
    "stripee",
    "--url",
    "http://localhost:1/",
  ]);
  expect(unknown.stderr).toMatch(/stripee.*stripe/s);
  const noSecret = await runCli([
    "send",
    "sample",
    "--sender",
    "stripe",
    "--url",
    "http://localhost:1/",
  ]);
  expect(noSecret.stderr).toContain("STRIPE_WEBHOOK_SECRET");
  const noUrl = await runCli([
    "send",
    "sample",
    "--sender",
    "twilio",
    "--secret",
    "a",
    "--url",
    "http://localhost:1/",
  ]);
  expect(noUrl.stderr).toContain("--public-url");
});
