import type { InboxStore } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory.js";
import { storeContract, type ContractCase, type ContractMedium } from "./store-contract.js";

/** What a broken store does otherwise. `store` is what the process sees; its writes reach the medium a turn later. */
export interface Break {
  /** Bends the store that all writes and reads go through. */
  bend?(store: InboxStore): InboxStore;
  /** Whether a commit waits until what it wrote is on the medium. */
  waits?(result: Awaited<ReturnType<InboxStore["commit"]>>): boolean;
}

/**
 * A store with a medium below it that writes reach a turn of the event loop later, as a disk: sound as it stands, and
 * made wrong in one place by a {@link Break}.
 */
export function plainMedium({ bend = (store) => store, waits = () => true }: Break = {}): ContractMedium {
  const onMedium = bend(memoryStore());
  return writeBehind(bend(memoryStore()), onMedium, waits, (endpoint, eventId) => onMedium.get(endpoint, eventId));
}

/** A sound medium whose stores are made wrong. */
export function brokenMedium(medium: ContractMedium, { bend = (store) => store, waits }: Break): ContractMedium {
  const { destroy, readBack } = medium;
  if (waits !== undefined) {
    return { ...writeBehind(memoryStore(), medium.createStore(), waits, readBack), destroy };
  }
  const originals = new Map<InboxStore, InboxStore>();
  const bent = (original: InboxStore): InboxStore => {
    const store = bend(original);
    originals.set(store, original);
    return store;
  };
  const { createSibling } = medium;
  return {
    ...medium,
    createStore: () => bent(medium.createStore()),
    ...(createSibling && { createSibling: () => bent(createSibling()) }),
    kill: (store) => medium.kill?.(originals.get(store) ?? store),
  };
}

/**
 * A store that answers from memory, and then writes to the medium. A write waits for each look at the medium that began before its
 * turn. Otherwise a quick write could be there before a slow look, which would then not see that it came late.
 */
function writeBehind(
  inMemory: InboxStore,
  onMedium: InboxStore,
  waits: NonNullable<Break["waits"]>,
  readBack: ContractMedium["readBack"],
): ContractMedium {
  let flushed: Promise<unknown> = Promise.resolve();
  let looks: Promise<unknown> = Promise.resolve();

  /** The same write again, below, in the same order. */
  function flush(write: (store: InboxStore) => Promise<unknown>): Promise<unknown> {
    flushed = flushed
      .then(nextTurn)
      .then(() => looks)
      .then(() => write(onMedium));
    return flushed;
  }

  async function through<Result>(write: (store: InboxStore) => Promise<Result>): Promise<Result> {
    const result = await write(inMemory);
    await flush(write);
    return result;
  }

  const store: InboxStore = {
    ...inMemory,
    name: "plain",
    async open(context) {
      await onMedium.open(context);
      await inMemory.open(context);
    },
    async close(endpoint) {
      await flushed;
      await inMemory.close(endpoint);
      await onMedium.close(endpoint);
    },
    async commit(batch) {
      const result = await inMemory.commit(batch);
      const written = flush((below) => below.commit(batch));
      if (waits(result)) await written;
      return result;
    },
    reclaim: (request) => through((each) => each.reclaim(request)),
    replay: (...args) => through((each) => each.replay(...args)),
    discard: (events) => through((each) => each.discard(events)),
    prune: (request) => through((each) => each.prune(request)),
  };
  return {
    createStore: () => store,
    ...(readBack && {
      readBack(endpoint, eventId) {
        const look = readBack(endpoint, eventId);
        looks = Promise.allSettled([looks, look]);
        return look;
      },
    }),
    destroy: async () => {},
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

type CreateMedium = Parameters<typeof storeContract>[0];

/** @returns the names of the cases that fail */
export function failing(createMedium: CreateMedium): Promise<string[]> {
  return runAll(storeContract(createMedium));
}

/** Runs only the cases of the guarantee that one case is about, since a disk takes its time for each. */
export function failingOfItsGuarantee(caseName: string, createMedium: CreateMedium): Promise<string[]> {
  const cases = storeContract(createMedium);
  const about = cases.find(({ name }) => name === caseName)?.guarantee;
  return runAll(cases.filter(({ guarantee }) => guarantee === about));
}

async function runAll(cases: readonly ContractCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) await run().catch(() => names.push(name));
  return names;
}
