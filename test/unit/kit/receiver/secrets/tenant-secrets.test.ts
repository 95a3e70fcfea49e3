import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createTenantSecrets } from "../../../../../src/kit/receiver/secrets/tenant-secrets.js";
import { createManualClock } from "../../../../../src/kit/testing/index.js";

/** Secrets that a vault gives by tenant, and the names that it was asked for. */
function vaultOf(secrets: Record<string, string[]>) {
  const clock = createManualClock();
  const asked: string[] = [];
  const ask = (tenant: string) => {
    asked.push(tenant);
    return secrets[tenant] ?? [];
  };
  return { clock, asked, secrets, lookUp: createTenantSecrets(ask, clock) };
}

/** A vault whose answers the test gives. */
function slowVault() {
  const clock = createManualClock();
  const waiting: { tenant: string; answer: (secrets: string[]) => void; fail: () => void }[] = [];
  const lookUp = createTenantSecrets(
    (tenant) =>
      new Promise<string[]>((answer, reject) =>
        waiting.push({ tenant, answer, fail: () => reject(new Error("the vault is down")) }),
      ),
    clock,
  );
  return { clock, waiting, lookUp };
}

test("a tenant's secret is remembered for a minute, and that there is none for 5 seconds", async () => {
  const { clock, asked, lookUp } = vaultOf({ acme: ["whsec_a"] });
  expect([lookUp("acme"), lookUp("nobody")]).toEqual([["whsec_a"], []]);
  await clock.advance(4999);
  void lookUp("acme");
  void lookUp("nobody");
  expect(asked).toEqual(["acme", "nobody"]);
  await clock.advance(1);
  void lookUp("nobody");
  await clock.advance(54_999);
  void lookUp("acme");
  expect(asked).toEqual(["acme", "nobody", "nobody"]);
  await clock.advance(1);
  void lookUp("acme");
  expect(asked.at(-1)).toBe("acme");
});

test("look-ups of one tenant at once share one call, and an error is not remembered", async () => {
  const { waiting, lookUp } = slowVault();
  const both = [lookUp("acme"), lookUp("acme")].map(async (lookup) => lookup);
  expect(waiting).toHaveLength(1);
  waiting[0]?.fail();
  expect(await Promise.allSettled(both)).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  const again = lookUp("acme");
  waiting[1]?.answer(["whsec_a"]);
  expect(await again).toEqual(["whsec_a"]);
});

test("made-up names push out no tenant, and at most 1,000 of them are looked up at once", async () => {
  const { clock, waiting, lookUp } = slowVault();
  const acme = lookUp("acme");
  waiting.shift()?.answer(["whsec_a"]);
  await acme;
  await clock.advance(60_000);
  const asked = Array.from({ length: 1000 }, async (_, index) => lookUp(`made-up-${index}`));
  expect(() => lookUp("made-up-1000")).toThrow("looked up too slowly");
  // What was known before is asked for all the same.
  const refreshed = lookUp("acme");
  expect(waiting.at(-1)?.tenant).toBe("acme");
  waiting.at(-1)?.answer(["whsec_b"]);
  expect(await refreshed).toEqual(["whsec_b"]);
  waiting.forEach(({ answer }) => answer([]));
  await Promise.all(asked);
  expect(lookUp("acme")).toEqual(["whsec_b"]);
});

test("a look-up that has not ended after 10 seconds has failed, and makes room", async () => {
  const { clock, waiting, lookUp } = slowVault();
  const stuck = Array.from({ length: 1000 }, async (_, index) => lookUp(`tenant-${index}`));
  const settled = Promise.allSettled(stuck);
  await clock.advance(10_000);
  expect(new Set((await settled).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  const again = lookUp("tenant-0");
  waiting.at(-1)?.answer(["whsec_0"]);
  expect(await again).toEqual(["whsec_0"]);
});

test("after a mismatch the vault is asked at most once in 5 seconds", async () => {
  const { clock, asked, secrets, lookUp } = vaultOf({ acme: ["whsec_old"] });
  void lookUp("acme");
  secrets["acme"] = ["whsec_new"];
  expect(lookUp("acme", true)).toEqual(["whsec_new"]);
  secrets["acme"] = ["whsec_newer"];
  await clock.advance(4999);
  expect(lookUp("acme", true)).toEqual(["whsec_new"]);
  await clock.advance(1);
  expect(lookUp("acme", true)).toEqual(["whsec_newer"]);
  expect(asked).toHaveLength(3);
});

test("100,000 made-up names cost one look-up each, and no memory that grows", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let asked = 0;
  const ask = (tenant: string): string[] => {
    asked += 1;
    return tenant === "acme" ? ["whsec_a"] : [];
  };
  const lookUp = createTenantSecrets(ask, createManualClock());
  void lookUp("acme");
  const heapOf = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapOf();
  const filler = "x".repeat(1000);
  for (let index = 0; index < 100_000; index += 1) {
    // Cut from a long address, as an application does it.
    const name = /^\/([^/]+)/.exec(`/made-up-tenant-${index}/${filler}`)?.[1] ?? "";
    void lookUp(name);
    void lookUp(name);
  }
  expect(asked).toBe(100_001);
  // 10,000 are remembered, in about 220 bytes each. Their addresses alone would be 10 MB.
  expect((heapOf() - before) / 1e6).toBeLessThan(5);
  void lookUp("acme");
  expect(asked).toBe(100_001);
});
