import { expect, test } from "vitest";
import { createTenantSecrets } from "../../../../src/kit/receiver/tenant-secrets.js";
import { createManualClock } from "../../../../src/kit/testing/index.js";

/** Secrets that a vault gives by tenant, and the names that it was asked for. */
function vaultOf(secrets: Record<string, string[]>) {
  const clock = createManualClock();
  const asked: string[] = [];
  const ask = (tenant: string) => {
    asked.push(tenant);
    return secrets[tenant] ?? [];
  };
  return { clock, asked, secrets, ask, tenants: createTenantSecrets(ask, clock) };
}

/** A vault whose answers the test gives. */
function slowVault() {
  const clock = createManualClock();
  const waiting: { tenant: string; answer: (secrets: string[]) => void; fail: () => void }[] = [];
  const tenants = createTenantSecrets(
    (tenant) =>
      new Promise<string[]>((answer, reject) =>
        waiting.push({ tenant, answer, fail: () => reject(new Error("the vault is down")) }),
      ),
    clock,
  );
  return { clock, waiting, tenants };
}

test("a tenant's secret is remembered for a minute, and that there is none for 5 seconds", async () => {
  const { clock, asked, tenants } = vaultOf({ acme: ["whsec_a"] });
  expect([tenants.lookUp("acme"), tenants.lookUp("nobody")]).toEqual([["whsec_a"], []]);
  await clock.advance(4999);
  tenants.lookUp("acme");
  tenants.lookUp("nobody");
  expect(asked).toEqual(["acme", "nobody"]);
  await clock.advance(1);
  tenants.lookUp("nobody");
  await clock.advance(54_999);
  tenants.lookUp("acme");
  expect(asked).toEqual(["acme", "nobody", "nobody"]);
  await clock.advance(1);
  tenants.lookUp("acme");
  expect(asked.at(-1)).toBe("acme");
});

test("look-ups of one tenant at once share one call, and an error is not remembered", async () => {
  const { waiting, tenants } = slowVault();
  const both = [tenants.lookUp("acme"), tenants.lookUp("acme")];
  expect(waiting).toHaveLength(1);
  waiting[0]?.fail();
  expect(await Promise.allSettled(both)).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  const again = tenants.lookUp("acme");
  waiting[1]?.answer(["whsec_a"]);
  expect(await again).toEqual(["whsec_a"]);
});

test("made-up names push out no tenant, and at most 1,000 of them are looked up at once", async () => {
  const { clock, waiting, tenants } = slowVault();
  const acme = tenants.lookUp("acme");
  waiting.shift()?.answer(["whsec_a"]);
  await acme;
  await clock.advance(60_000);
  const asked = Array.from({ length: 1000 }, (_, index) => tenants.lookUp(`made-up-${index}`));
  expect(() => tenants.lookUp("made-up-1000")).toThrow("The secrets of 1000 tenants");
  // What was known before is asked for all the same.
  const refreshed = tenants.lookUp("acme");
  expect(waiting.at(-1)?.tenant).toBe("acme");
  waiting.at(-1)?.answer(["whsec_b"]);
  expect(await refreshed).toEqual(["whsec_b"]);
  waiting.forEach(({ answer }) => answer([]));
  await Promise.all(asked);
  expect(tenants.lookUp("acme")).toEqual(["whsec_b"]);
});

test("look-ups that never end block nobody for longer than 10 seconds", async () => {
  const { clock, waiting, tenants } = slowVault();
  for (let index = 0; index < 1000; index += 1) void tenants.lookUp(`tenant-${index}`);
  await clock.advance(10_000);
  const first = tenants.lookUp("tenant-0");
  const other = tenants.lookUp("acme");
  waiting.at(-1)?.answer(["whsec_a"]);
  waiting.at(-2)?.answer(["whsec_0"]);
  expect([await first, await other]).toEqual([["whsec_0"], ["whsec_a"]]);
});

test("after a mismatch the vault is asked at most once in 5 seconds", async () => {
  const { clock, asked, secrets, tenants } = vaultOf({ acme: ["whsec_old"] });
  tenants.lookUp("acme");
  secrets["acme"] = ["whsec_new"];
  expect(tenants.lookUpAgain("acme")).toEqual(["whsec_new"]);
  secrets["acme"] = ["whsec_newer"];
  await clock.advance(4999);
  expect(tenants.lookUpAgain("acme")).toEqual(["whsec_new"]);
  await clock.advance(1);
  expect(tenants.lookUpAgain("acme")).toEqual(["whsec_newer"]);
  expect(asked).toHaveLength(3);
});

test("100,000 made-up names cost one look-up each, and no memory that grows", () => {
  const { asked, ask, tenants } = vaultOf({ acme: ["whsec_a"] });
  tenants.lookUp("acme");
  const heapOf = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const flood = (round: number): void => {
    for (let index = 0; index < 100_000; index += 1) {
      // Cut from a long address, as an application does it.
      const name = `/hooks/made-up-tenant-${round}-${index}/${"x".repeat(200)}`.split("/")[2] ?? "";
      tenants.lookUp(name);
      tenants.lookUp(name);
    }
  };
  void ask;
  const before = heapOf();
  flood(1);
  expect(asked).toHaveLength(100_001);
  asked.length = 0;
  expect((heapOf() - before) / 1e6).toBeLessThan(5);
  expect(tenants.lookUp("acme")).toEqual(["whsec_a"]);
  expect(asked).toEqual([]);
});
