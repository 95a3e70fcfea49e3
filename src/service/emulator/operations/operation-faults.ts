import type { OperationName } from "../../contract/operations.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "./service-error.js";

/** The codes that a fault can have (service document, Errors). */
export const OPERATION_FAULTS = ["DATA_UNAVAILABLE", "FEATURE_NOT_ACTIVATED"] as const;
export type OperationFault = (typeof OPERATION_FAULTS)[number];

export const OPERATION_FAULT_SCHEMA = `
CREATE TABLE operation_fault (
  operation TEXT PRIMARY KEY,
  code TEXT NOT NULL,
  -- For how many more calls the operation answers 503; null: until the fault is cleared.
  remaining INTEGER
) STRICT, WITHOUT ROWID;
`;

/** The faults of operations, which the control API sets. */
export type OperationFaults = ReturnType<typeof createOperationFaults>;

interface Row {
  operation: OperationName;
  code: OperationFault;
  /** For how many more calls the operation answers 503; null: until the fault is cleared. */
  calls: number | null;
}

export function createOperationFaults({ database }: Pick<EmulatorCore, "database">) {
  const COLUMNS = "operation, code, remaining AS calls";
  const insert = database.prepare("INSERT OR REPLACE INTO operation_fault VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM operation_fault WHERE operation = ?");
  const select = database.prepare<[string], Row>(
    `SELECT ${COLUMNS} FROM operation_fault WHERE operation = ?`,
  );
  const selectAll = database.prepare<[], Row>(
    `SELECT ${COLUMNS} FROM operation_fault ORDER BY operation`,
  );

  return {
    set: ({ operation, code, calls }: Row) => void insert.run(operation, code, calls),
    clear: (operation: OperationName) => void remove.run(operation),
    list: () => selectAll.all(),
    /** @throws ServiceError DATA_UNAVAILABLE, FEATURE_NOT_ACTIVATED */
    assertUsable(operation: OperationName): void {
      const fault = select.get(operation);
      if (fault === undefined) return;
      if (fault.calls === 1) remove.run(operation);
      else if (fault.calls !== null) insert.run(operation, fault.code, fault.calls - 1);
      const isInactive = fault.code === "FEATURE_NOT_ACTIVATED";
      const message = isInactive
        ? "The operation is not activated yet."
        : "The data are not available now.";
      throw new ServiceError(fault.code, message);
    },
  };
}
