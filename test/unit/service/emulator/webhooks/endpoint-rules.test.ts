import { expect, test } from "vitest";
import { registerWebhookBodySchema } from "../../../../../src/service/contract/webhook-registration.js";
import { refuseEndpoint } from "../../../../../src/service/emulator/webhooks/registrations/endpoint-rules.js";

const STRICT = { allowLoopbackHttp: false };
const LOCAL = { allowLoopbackHttp: true };

const accepts = (url: string, rules: typeof STRICT): boolean => {
  // What the schema refuses never gets to the rules.
  if (!registerWebhookBodySchema.shape.url.safeParse(url).success) return false;
  try {
    refuseEndpoint(url, rules);
    return true;
  } catch (error) {
    expect(error).toMatchObject({
      code: "INVALID_PARAMETERS",
      status: 400,
      details: [{ parameter: "url" }],
    });
    expect(String(error)).toContain("url: must ");
    return false;
  }
};

test.each([
  "https://hooks.example/signals",
  "https://hooks.example:8443/a?b=c",
  "https://8.8.8.8/",
  "https://[2606:4700:4700::1111]/",
  "https://internal/",
])("an HTTPS endpoint is registered: %s [register-webhook-body/url]", (url) => {
  expect(accepts(url, STRICT)).toBe(true);
});

const THIS_MACHINE = [
  "localhost",
  "LOCALHOST.",
  "127.0.0.1",
  "2130706433",
  "0x7f000001",
  "%31%32%37.0.0.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
];
/** In letters that no URI has: refused before anybody asks where they lead. */
const THIS_MACHINE_IN_OTHER_LETTERS = ["１２７.0.0.1", "127。0。0。1", "⑫7.0.0.1"];
/**
 * `address-kind.test.ts` has the addresses; these are other spellings of some, and what stands for
 * loopback and leads elsewhere.
 */
const ELSEWHERE = [
  "0",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "167772161",
  "169.254.169.254",
  "[fe80::1%25eth0]",
];

test.each([...THIS_MACHINE, ...THIS_MACHINE_IN_OTHER_LETTERS, ...ELSEWHERE])(
  "no endpoint is at an address that is not public: %s",
  (host) => {
    expect(accepts(`https://${host}/`, STRICT)).toBe(false);
    expect(accepts(`https://${host}:8443/hook`, STRICT)).toBe(false);
    expect(accepts(`http://${host}/`, STRICT)).toBe(false);
  },
);

test.each(THIS_MACHINE)(
  "with the switch, loopback is registered with and without TLS: %s",
  (host) => {
    expect(accepts(`http://${host}:3000/hook`, LOCAL)).toBe(true);
    expect(accepts(`https://${host}/hook`, LOCAL)).toBe(true);
  },
);

test.each(ELSEWHERE)("the switch is for loopback alone: %s", (host) => {
  expect(accepts(`http://${host}/`, LOCAL)).toBe(false);
  expect(accepts(`https://${host}/`, LOCAL)).toBe(false);
});

test.each([
  "http://hooks.example/",
  "http://8.8.8.8/",
  "ftp://hooks.example/",
  "javascript:alert(1)",
  "https://user@hooks.example/",
  "https://user:secret@hooks.example/",
  "https://hooks.example/#part",
])("what is no plain HTTPS address is refused: %j", (url) => {
  expect(accepts(url, STRICT)).toBe(false);
});

test.each([
  "http://8.8.8.8/",
  "http://hooks.example/",
  "ftp://localhost/",
  "https://user@localhost/",
])("the switch allows no plain HTTP to others, and no other liberty: %s", (url) => {
  expect(accepts(url, LOCAL)).toBe(false);
});

test.each(["http://localhost:3000/", "https://127.0.0.1:3000/"])(
  "a refusal names the switch for %s",
  (url) => {
    expect(() => refuseEndpoint(url, STRICT)).toThrow("--allow-loopback-http");
  },
);
