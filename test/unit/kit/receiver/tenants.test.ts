import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SenderReceiverOptions } from "../../../../src/kit/index.js";
import { readNews } from "../../../../src/kit/inbox/situation/receiver-report.js";
import { defineSender, meta, zoom } from "../../../../src/kit/senders/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { testReceiver, waitForEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";

import { rejectionOf } from "../../signalbox-error-of.js";
import { codeOf } from "../inbox/receiver-rig.js";

interface Event {
  id: string;
  type: string;
  tenant?: string;
}

/** Signs the body; the id is in it. */
const shop = defineSender<Event>({
  name: "shop",
  signature: { header: "x-sign" },
  read: ({ json }) => ({ id: json.id, type: json.type }),
});

/** Signs the body alone; the id is in a header. */
const unsigned = (repeatedBody: "keep" | "drop") =>
  defineSender<Event>({
    name: "unsigned",
    signature: { header: "x-sign" },
    headers: ["x-id"],
    unsignedId: true,
    repeatedBody,
    read: ({ headers }) => ({ id: headers["x-id"], type: "paid" }),
  });

const tenantIn = ({ url }: { url: string }) => /^\/hooks\/([^/?]+)$/.exec(url)?.[1] ?? null;

type Options = Omit<Partial<SenderReceiverOptions<Record<string, Event>>>, "clock">;

/** A receiver whose tenants have the secrets `secret of NAME`, and are `acme`, `beta`, `a`, `b`. */
async function tenants(options: Options = {}) {
  const keys: [tenant: string | null, eventId: string, deliveryKey: string][] = [];
  const asked: string[] = [];
  const made = await testReceiver<Record<string, Event>>({
    sender: shop,
    tenant: tenantIn,
    secrets: ({ tenant }) => {
      asked.push(tenant);
      return ["acme", "beta", "a", "b"].includes(tenant) ? `secret of ${tenant}` : undefined;
    },
    onEvent: (_event, { tenant, eventId, deliveryKey }) =>
      void keys.push([tenant, eventId, deliveryKey]),
    ...options,
  });
  const send = async (
    tenant: string,
    event: object | string,
    {
      secret = `secret of ${tenant}`,
      headers,
    }: { secret?: string; headers?: Record<string, string> } = {},
  ) => codeOf(await made.deliver(event, { url: `/hooks/${tenant}`, secret, headers }));
  return { ...made, send, keys, asked };
}

const paid = (id: string, more: object = {}) => ({ id, type: "paid", ...more });

test("one id of two tenants is two events, each with its key; again it is a duplicate", async () => {
  await using rig = await tenants();
  const { receiver, send } = rig;
  expect(await send("acme", paid("evt_1"))).toBe("200");
  expect(await send("beta", paid("evt_1"))).toBe("200");
  expect(await send("beta", paid("evt_1"))).toBe("200");
  await waitForEvent(receiver, "acme/evt_1");
  await waitForEvent(receiver, "beta/evt_1");
  expect(rig.keys).toEqual([
    ["acme", "evt_1", "default/acme/evt_1"],
    ["beta", "evt_1", "default/beta/evt_1"],
  ]);
  expect(receiver.health().deliveries).toMatchObject({ accepted: 2, duplicate: 1 });
  expect(await receiver.inbox.get("evt_1")).toBeUndefined();
  expect((await receiver.inbox.search({ eventId: "beta/" })).entries).toMatchObject([
    { eventId: "beta/evt_1" },
  ]);
});

test.each(["", "Acme", "a.b", "a%2Fb", "x".repeat(65), "nobody"])(
  "%s is no tenant: 404",
  async (name) => {
    await using rig = await tenants();
    expect(await rig.send(name, paid("1"))).toBe("404 tenant_unknown");
    expect(rig.asked).toEqual(name === "nobody" ? [name] : []);
  },
);

test("what tenant throws is logged, and answered 404", async () => {
  const { logger, lines } = logLines();
  for (const tenant of [
    () => {
      throw new Error("no router");
    },
    (async () => "acme") as unknown as () => string,
  ]) {
    await using rig = await tenants({ tenant, logger });
    expect(await rig.send("acme", paid("1"))).toBe("404 tenant_unknown");
  }
  expect(lines.join("\n")).toMatch(/tenant_unknown.*no router/);
  expect(lines.join("\n")).toMatch(/tenant_unknown.*must not be async/);
});

test("the secret of a tenant opens no other one", async () => {
  await using rig = await tenants();
  for (const tenant of ["acme", "beta", "a", "b"])
    for (const other of ["acme", "beta", "a", "b"]) {
      const answer = await rig.send(tenant, paid("1"), { secret: `secret of ${other}` });
      expect(answer).toBe(tenant === other ? "200" : "401 signature_mismatch");
    }
});

test("ids never meet, whatever stands in them", async () => {
  await using rig = await tenants();
  const parts = ["a", "b", "/", "~", "a/", "/b", "sha256:", `~${"0".repeat(32)}`, "é", "%2F"];
  const wanted = new Set<string>();
  let seed = 1;
  const draw = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 500; round += 1) {
    const tenant = draw(2) === 0 ? "a" : "b";
    const id = Array.from({ length: 1 + draw(3) }, () => parts[draw(parts.length)]).join("");
    wanted.add(JSON.stringify([tenant, id]));
    expect(await rig.send(tenant, paid(id))).toBe("200");
  }
  const entries = await rig.receiver.inbox.list({ limit: 1000 });
  expect(entries).toHaveLength(wanted.size);
  await rig.receiver.drain();
  const found = rig.keys.map(([tenant, id]) => JSON.stringify([tenant, id]));
  expect(found.toSorted()).toEqual([...wanted].toSorted());
  expect(new Set(rig.keys.map(([, , key]) => key)).size).toBe(wanted.size);
});

test("where tenants share a secret, a captured delivery of one is refused for the other", async () => {
  const { logger, lines } = logLines();
  const tenantOf = ({ tenant }: Event) => {
    if (tenant === undefined) throw new Error("it has no tenant");
    return tenant;
  };
  await using rig = await tenants({ secrets: "shared", tenantOf, logger });
  const ofAcme = paid("1", { tenant: "acme" });
  const send = (tenant: string, body: object | string) =>
    rig.send(tenant, body, { secret: "shared" });
  expect(await send("acme", ofAcme)).toBe("200");
  expect(await send("beta", ofAcme)).toBe("401 tenant_mismatch");
  expect(await send("acme", paid("2"))).toBe("401 tenant_mismatch");
  expect(lines.join("\n")).toContain("it has no tenant");
  // Nothing in it says whose it is.
  expect(await send("acme", "no JSON")).toBe("401 tenant_mismatch");
  expect(await rig.receiver.inbox.list()).toMatchObject([{ eventId: "acme/1" }]);
});

test("what nobody signed is of no tenant: 401, so that scanners raise no alarm", async () => {
  await using rig = await tenants();
  const request = { method: "POST", url: "/hooks/.env", headers: {}, body: Buffer.from("{}") };
  expect(codeOf(await rig.receiver.handle(request))).toBe("401 signature_missing");
});

test("what is no text is no tenant, whatever the type says", async () => {
  await using rig = await tenants({ tenant: (() => 42) as unknown as () => string });
  expect(await rig.send("42", paid("1"))).toBe("404 tenant_unknown");
});

test("tenantOf needs tenant, or it would refuse everything", async () => {
  const error = await rejectionOf(
    testReceiver({ sender: shop, secrets: "s", tenantOf: () => "acme" }),
  );
  expect(error.message).toContain("needs the option tenant");
});

test("an erasure of one tenant leaves the events of another about the same", async () => {
  await using rig = await tenants();
  for (const tenant of ["acme", "beta"]) await rig.send(tenant, paid("1", { about: "cus_1" }));
  const { inbox } = rig.receiver;
  expect(await inbox.erase({ containing: "cus_1", tenant: "acme" })).toMatchObject({ erased: 1 });
  const other = { ids: ["beta/1"], tenant: "acme" };
  for (const query of [other, undefined])
    await expect(inbox.erase(query as never)).rejects.toMatchObject({ code: "option_invalid" });
  expect((await inbox.get("beta/1"))?.rawBody).not.toBeNull();
});

test("a look-up that fails does not keep the next delivery from another", async () => {
  let secret: string | Error = "old";
  await using rig = await tenants({
    secrets: async (_asked: { tenant: string }) => {
      if (secret instanceof Error) throw secret;
      return secret;
    },
  });
  expect(await rig.send("acme", paid("1"), { secret: "old" })).toBe("200");
  secret = new Error("the vault is down");
  expect(await rig.send("acme", paid("2"), { secret: "new" })).toMatch(/^503/);
  secret = "new";
  expect(await rig.send("acme", paid("2"), { secret: "new" })).toBe("200");
});

test("a shared secret needs tenantOf", async () => {
  const error = await rejectionOf(tenants({ secrets: "shared" }));
  expect(error.message).toContain("tenants share a secret");
});

test("a rotated secret is looked up before the 401, also by a slow vault", async () => {
  let secret = "old";
  let calls = 0;
  const secrets = async (_asked: { tenant: string }) => {
    calls += 1;
    return secret;
  };
  await using rig = await tenants({ secrets });
  expect(await rig.send("acme", paid("1"), { secret: "old" })).toBe("200");
  secret = "new";
  expect(await rig.send("acme", paid("2"), { secret: "new" })).toBe("200");
  expect(calls).toBe(2);
  // Forgeries cost one look-up in 5 seconds.
  for (let round = 0; round < 50; round += 1)
    expect(await rig.send("acme", paid("3"), { secret: "forged" })).toBe("401 signature_mismatch");
  expect(calls).toBe(2);
  await rig.clock.advance(5000);
  secret = "newer";
  const both = [
    rig.send("acme", paid("3"), { secret: "forged" }),
    rig.send("acme", paid("4"), { secret: "newer" }),
  ];
  expect(await Promise.all(both)).toEqual(["401 signature_mismatch", "200"]);
  expect(calls).toBe(3);
});

test("a function that verifies gets the secrets of the tenant, and a rotated one too", async () => {
  let secret = "old";
  const sender = defineSender<Event>({
    name: "own",
    verify: ({ headers, secret: known }) => headers["x-token"] === known,
    read: ({ json }) => ({ id: json.id, type: json.type }),
  });
  const secrets = ({ tenant }: { tenant: string }) => `${secret} ${tenant}`;
  await using rig = await tenants({ sender, secrets });
  const send = (token: string) =>
    rig.send("acme", paid(token.replace(" ", "-")), { headers: { "x-token": token } });
  expect(await send("old acme")).toBe("200");
  secret = "new";
  expect(await send("new acme")).toBe("200");
  expect(await send("new beta")).toBe("401 signature_mismatch");
});

test("bytes of one tenant are no repeat of another's, not even after a restart", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "tenants-")), "inbox.db");
  const repeated: [tenant: string | null, possiblyRepeated: boolean][] = [];
  const options = (): Options => ({
    sender: unsigned("keep"),
    store: sqliteStore(path),
    onEvent: (_event, { tenant, possiblyRepeated }) =>
      void repeated.push([tenant, possiblyRepeated]),
  });
  const body = { paid: true };
  const before = await tenants(options());
  await before.send("acme", body, { headers: { "x-id": "1" } });
  await before.send("beta", body, { headers: { "x-id": "1" } });
  await before.receiver.drain();
  await before.receiver.close();
  await using rig = await tenants(options());
  await rig.send("acme", body, { headers: { "x-id": "2" } });
  await rig.send("a", body, { headers: { "x-id": "2" } });
  await rig.receiver.drain();
  expect(repeated).toEqual([
    ["acme", false],
    ["beta", false],
    ["acme", true],
    ["a", false],
  ]);
});

test("with repeatedBody drop, the bytes of one tenant are new for another", async () => {
  await using rig = await tenants({ sender: unsigned("drop") });
  const ids = [
    ["acme", "1"],
    ["acme", "2"],
    ["beta", "2"],
  ] as const;
  for (const [tenant, id] of ids)
    await rig.send(tenant, { paid: true }, { headers: { "x-id": id } });
  const entries = await rig.receiver.inbox.list();
  expect(entries.map(({ eventId }) => eventId)).toEqual(["acme/1", "beta/2"]);
});

test("one id with other bytes gets an id of its own within its tenant", async () => {
  await using rig = await tenants({ sender: unsigned("keep") });
  for (const tenant of ["acme", "beta"])
    for (const body of [{ n: 1 }, { n: 2 }])
      await rig.send(tenant, body, { headers: { "x-id": "1" } });
  const [first, own, other, otherOwn] = await rig.receiver.inbox.list();
  expect([first?.eventId, other?.eventId]).toEqual(["acme/1", "beta/1"]);
  expect(own?.eventId).toMatch(/^acme\/1~[0-9a-f]{32}$/);
  expect(otherOwn?.eventId).toMatch(/^beta\/1~[0-9a-f]{32}$/);
});

test("one key of two tenants is two lanes, and unblock takes the tenant too", async () => {
  const running: (string | null)[] = [];
  await using rig = await tenants({
    order: { by: () => "one" },
    handoff: { maxAttempts: 1 },
    onEvent: async (_event, { tenant, eventId }) => {
      running.push(`${tenant}/${eventId}`);
      if (tenant === "acme") throw new Error("down");
    },
  });
  await rig.send("acme", paid("1"));
  await waitForEvent(rig.receiver, "acme/1", { state: "dead" });
  await rig.send("acme", paid("2"));
  await rig.send("beta", paid("3"));
  await waitForEvent(rig.receiver, "beta/3");
  expect(running).toEqual(["acme/1", "beta/3"]);
  expect(await rig.receiver.inbox.unblock("one")).toBe(false);
  expect(await rig.receiver.inbox.unblock("acme/one")).toBe(true);
});

test("a quarantined event that is replayed stays its tenant's", async () => {
  const { deliver, receiver } = await testReceiver({
    tenant: tenantIn,
    secrets: ({ tenant }) => `whsec_${tenant}`,
  });
  const body = { id: "evt_1", version: "1", type: "not.known", created_at: "", data: {} };
  await deliver(body, { url: "/hooks/acme", secret: "whsec_acme" });
  const [entry] = await receiver.inbox.list();
  expect(entry).toMatchObject({ eventId: "acme/evt_1", state: "quarantined" });
  expect(await receiver.inbox.replay("acme/evt_1")).toBe("still_unusable");
  const verification = {
    id: "evt_2",
    version: "1",
    type: "webhook.verification",
    created_at: "",
    data: { challenge: "abc" },
  };
  const answer = await deliver(verification, { url: "/hooks/acme", secret: "whsec_acme" });
  expect(JSON.parse(answer.body)).toEqual({ challenge: "abc" });
  const wrong = await deliver(verification, { url: "/hooks/beta", secret: "whsec_acme" });
  expect(wrong.status).toBe(401);
  await receiver.close({ graceMs: 0 });
});

test("accept takes the tenant, and tenantOf is asked there too", async () => {
  const tenantOf = ({ tenant = "" }: Event) => tenant;
  await using rig = await tenants({ tenantOf });
  const { accept } = rig.receiver;
  const body = JSON.stringify(paid("1", { tenant: "acme" }));
  expect(await accept({ body, tenant: "acme" })).toMatchObject({ eventId: "acme/1" });
  expect(await rig.send("acme", body)).toBe("200");
  expect(rig.receiver.health().deliveries).toMatchObject({ accepted: 1, duplicate: 1 });
  for (const tenant of ["beta", "Acme", undefined])
    expect((await rejectionOf(accept({ body, tenant }))).code).toBe("option_invalid");
  const { receiver } = await testReceiver({ sender: shop });
  const error = await rejectionOf(receiver.accept({ body, tenant: "acme" }));
  expect(error.message).toContain("this receiver has none");
  await receiver.close();
});

test("a handshake is answered with the secret of the tenant, and not for an unknown one", async () => {
  await using rig = await tenants({ sender: zoom() as never });
  const validation = { event: "endpoint.url_validation", payload: { plainToken: "abc" } };
  const answers = await Promise.all(
    ["acme", "beta"].map(async (tenant) => {
      const signing = { url: `/hooks/${tenant}`, secret: `secret of ${tenant}` };
      return JSON.parse((await rig.deliver(validation, signing)).body).encryptedToken as string;
    }),
  );
  expect(answers[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(answers[1]).not.toBe(answers[0]);

  const query = "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=token";
  const tenant = ({ url }: { url: string }) => tenantIn({ url: url.split("?")[0] ?? "" });
  await using known = await tenants({ sender: meta({ verifyToken: "token" }) as never, tenant });
  const get = (receiver: typeof known.receiver, path: string) =>
    receiver.handle({ method: "GET", url: path + query, headers: {}, body: new Uint8Array() });
  expect((await get(known.receiver, "/hooks/acme")).status).toBe(200);
  expect((await get(known.receiver, "/other")).status).toBe(404);
});

test("a refused delivery is listed with its tenant before the id", async () => {
  const store = memoryStore();
  await using rig = await tenants({ store });
  await rig.send("acme", paid("evt_1"), { secret: "forged" });
  await rig.clock.advance(5000);
  const { refusals } = await readNews(store, "default", rig.clock.now());
  expect(refusals.examples).toMatchObject([{ code: "signature_mismatch", eventId: "acme/evt_1" }]);
});
