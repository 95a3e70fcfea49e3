import type { OperationName } from "../../contract/operations.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "./service-error.js";

/** The codes that a fault can have (service document, Errors). */
export const OPERATION_FAULTS = ["DATA_UNAVAILABLE", "FEATURE_NOT_ACTIVATED"] as const;
type OperationFault = (typeof OPERATION_FAULTS)[number];

export const OPERATION_FAULT_SCHEMA = [
  // `remaining`: for how many more calls the operation answers 503; null: until the fault is
  // cleared.
  `CREATE TABLE operation_fault (
  operation TEXT PRIMARY KEY,
  code TEXT NOT NULL,
  remaining INTEGER
) STRICT, WITHOUT ROWID;`,
].join("\n");

/** The faults of operations, which the control API sets. */
export type OperationFaults = ReturnType<typeof createOperationFaults>;

interface Row {
  operation: OperationName;
  code: OperationFault;
  /** For how many more calls the operation answers 503; null: until the fault is cleared. */
  calls: number | null;
}

export function createOperationFaults({ database }: EmulatorCore) {
  const SELECT = "SELECT operation, code, remaining AS calls FROM operation_fault";
  const set = ({ calls: remaining, ...fault }: Row): void =>
    void database.put("operation_fault", { ...fault, remaining });
  const clear = (operation: OperationName): void =>
    void database.run("DELETE FROM operation_fault WHERE operation = ?", operation);

  return {
    set,
    clear,
    list: () => database.rows<Row>(`${SELECT} ORDER BY operation`),
    /** @throws ServiceError DATA_UNAVAILABLE, FEATURE_NOT_ACTIVATED */
    assertUsable(operation: OperationName): void {
      const fault = database.row<Row>(`${SELECT} WHERE operation = ?`, operation);
      if (fault === undefined) return;
      if (fault.calls === 1) clear(operation);
      else if (fault.calls !== null) set({ ...fault, calls: fault.calls - 1 });
      const isInactive = fault.code === "FEATURE_NOT_ACTIVATED";
      const message = isInactive
        ? "The operation is not activated yet."
        : "The data are not available now.";
      throw new ServiceError(fault.code, message);
    },
  };
}
