import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { nodeHandler } from "../../../src/kit/receiver/adapters/node-handler.js";
import { builtInSender } from "../../../src/kit/senders/built-in.js";
import { testReceiver } from "../../../src/kit/testing/index.js";
import { callCli } from "../call-cli.js";
import { expectGolden } from "../golden.js";
import { rowsOf } from "../run-cli.js";
import { listen } from "../serve-requests.js";
import { tempFile } from "../temp-files.js";

const PUBLIC_URL = "https://hooks.example/webhooks/twilio";
const ANOTHER = "whsec_dGhlIHNlY3JldCBvZiBhbm90aGVyISEh";
const secretOf = (name: string): string =>
  name === "svix" ? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" : "whsec_cli_7";

/** A receiver of this sender on a port, and the command line with its secret. */
async function start(name: string) {
  const { receiver } = await testReceiver({
    sender: builtInSender(name, { publicUrl: PUBLIC_URL })!,
    secrets: secretOf(name),
    clock: systemClock as never,
    onEvent: () => undefined,
  });
  onTestFinished(() => receiver.close());
  const flags = ["--sender", name, ...(name === "twilio" ? ["--public-url", PUBLIC_URL] : [])];
  const run = (args: readonly string[], secret = secretOf(name)) =>
    callCli([...args, ...flags], { env: { [`${name.toUpperCase()}_WEBHOOK_SECRET`]: secret } });
  return {
    receiver,
    url: await listen(nodeHandler(receiver)),
    run,
    /** The headers of a signature, as `verify` takes them. */
    async sign(body: string, secret?: string, ...args: string[]): Promise<string[]> {
      const { lines } = await run(["sign", tempFile(body), ...args], secret);
      return lines.flatMap((line) => ["-H", line]);
    },
  };
}

test.each(["stripe", "github", "svix", "slack", "twilio"])(
  "%s: sign, verify, send and doctor go together",
  async (name) => {
    const { receiver, run, sign, url } = await start(name);
    const stored = async () => (await receiver.inbox.list()).length;
    const body =
      name === "twilio" ? "MessageSid=SM1&MessageStatus=sent" : '{"id":"evt_1","type":"a"}';
    let text = "";
    const print = async (args: string[], secret?: string): Promise<void> => {
      const { exitCode, stdout, stderr } = await run(args, secret);
      text += `$ ${args[0]}\n${stdout}${stderr}exit ${exitCode}, ${await stored()} stored\n\n`;
    };
    await print(["verify", tempFile(body), ...(await sign(body))]);
    const send = ["send", "sample", "--url", url];
    const sent = await run([...send, "--count", "2", "--json"]);
    expect(sent).toMatchObject({ exitCode: 0 });
    const ids = (await receiver.inbox.list()).map(({ eventId }) => eventId);
    expect(rowsOf(sent).map(({ eventId }) => eventId)).toEqual(ids);
    expect(await run([...send, "--count", "2", "--duplicate"])).toMatchObject({ exitCode: 0 });
    expect(await stored()).toBe(3);
    expect((await run([...send, "--tamper"])).stdout).toContain("401");

    const doctor = ["doctor", "--url", url];
    await print(doctor);
    await print(doctor, ANOTHER);
    await print([...doctor, "--test-event"], ANOTHER);
    await print([...doctor, "--test-event"]);
    await expectGolden(`sender-${name}`, text, [
      [/signed \d s ago/, "signed N s ago"],
      [/msg_[\w-]+/, "msg_ID"],
    ]);
  },
);

test("send posts an event of a type, as the sender makes it, and with values that are set", async () => {
  const stripe = await start("stripe");
  const paid = ["send", "invoice.paid", "--url", stripe.url];
  await stripe.run([...paid, "--count", "2"]);
  await stripe.run([...paid, "--set", "id=evt_mine"]);
  const entries = await stripe.receiver.inbox.list();
  expect(entries.map(({ type }) => type)).toEqual(["invoice.paid", "invoice.paid", "invoice.paid"]);
  expect(entries.map(({ eventId }) => eventId)).toContain("evt_mine");
  const github = await start("github");
  await github.run(["send", "issues.opened", "--url", github.url, "--count", "2", "--duplicate"]);
  expect(await github.receiver.inbox.list()).toMatchObject([{ type: "issues", subtype: "opened" }]);
});

const PRETTY = '{\n  "id": "evt_1",\n  "type": "a"\n}';

test("verify and doctor name the usual mistakes of another sender", async () => {
  const stripe = await start("stripe");
  const github = await start("github");
  const svix = await start("svix");
  let text = "";
  const print = async (
    title: string,
    { run }: Pick<typeof stripe, "run">,
    args: string[],
    secret?: string,
  ) => {
    const { exitCode, stdout, stderr } = await run(args, secret);
    text += `# ${title}\n${stdout}${stderr}exit ${exitCode}\n\n`;
  };
  const verify = (headers: string[], body = PRETTY, now = "1795255203") =>
    ["verify", tempFile(body), "--now", now].concat(headers);
  const signed = await stripe.sign(PRETTY, undefined, "--timestamp", "1795255200");
  const loud = signed.map((word) =>
    word.replace(/v1=.*/, (digest) => digest.toUpperCase().replace("V1", "v1")),
  );
  await print("compact", stripe, verify(signed, JSON.stringify(JSON.parse(PRETTY))));
  await print("old", stripe, verify(signed, PRETTY, "1795255600"));
  await print("a secret without its prefix", stripe, verify(signed), "cli_7");
  await print("a secret in quotes", stripe, verify(signed), '"whsec_cli_7"');
  await print("capitals", stripe, verify(loud));
  await print("another header", stripe, verify(["-H", "X-Other: 1"]));
  await print("the headers of another sender", stripe, verify(await github.sign(PRETTY)));
  const asText = Buffer.from(secretOf("svix")).toString("base64");
  const texts = await svix.sign(PRETTY, asText);
  await print("text in place of base64", svix, ["verify", tempFile(PRETTY), ...texts]);
  const find = ["doctor", "--url"];
  await print("doctor, a secret without its prefix", stripe, [...find, stripe.url], "cli_7");
  await print("doctor, a receiver of another sender", stripe, [...find, github.url]);
  expect(await stripe.receiver.inbox.list()).toEqual([]);

  const push = tempFile('{"ref":"refs/heads/main"}');
  const send = ["send", push, "--url", github.url];
  await print("a file without its type", github, send);
  await print("a file with its type", github, [...send, "-H", "X-GitHub-Event: push"]);
  await print("no such type", github, ["send", "pushh", "--url", github.url]);
  await print("no header", github, [...send, "-H", "push"]);
  expect((await github.receiver.inbox.list()).map(({ type }) => type)).toContain("push");

  const sample = ["send", "sample", "--url", "http://localhost:1/", "--sender"];
  const alone = { run: (args: readonly string[]) => callCli(args) };
  await print("an unknown sender", alone, [...sample, "stripee"]);
  await print("no secret", alone, [...sample, "stripe"]);
  await print("no address", alone, [...sample, "twilio", "--secret", "a"]);
  await expectGolden("senders", text, [[/msg_[\w-]+/g, "msg_ID"]]);
});
