/**
 * What the process had said by a certain moment, from the marks that
 * `children/recorded-receiver.mjs` writes.
 */
export interface Ledger {
  /** The SHA-256 of the body of each event that was answered with a 2xx. */
  readonly acknowledged: Map<string, string>;
  /** Whose callback began. */
  readonly begun: Set<string>;
  /** Events whose callback began again without the flag of a possible repeat. */
  readonly repeated: Set<string>;
  /** Of which `handedOff` was reported. */
  readonly handedOff: Set<string>;
}

export function createLedger(): Ledger {
  return { acknowledged: new Map(), begun: new Set(), repeated: new Set(), handedOff: new Set() };
}

export function addMarks(ledger: Ledger, text: string): void {
  for (const line of text.split("\n").slice(0, -1)) {
    const [what, id = "", detail = ""] = line.split(" ");
    if (what === "acknowledged") ledger.acknowledged.set(id, detail);
    else if (what === "begun") begin(ledger, id, detail === "repeated");
    else if (what === "handedOff") ledger.handedOff.add(id);
    else throw new Error(`an unknown mark: ${line}`);
  }
}

export function begin({ begun, repeated }: Ledger, id: string, isFlagged: boolean): void {
  if (begun.has(id) && !isFlagged) repeated.add(id);
  begun.add(id);
}
