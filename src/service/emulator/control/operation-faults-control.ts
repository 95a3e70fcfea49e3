import { z } from "zod";
import { OPERATIONS, type OperationName } from "../../contract/operations.js";
import { OPERATION_FAULTS, type OperationFaults } from "../operations/operation-faults.js";
import { controlOperation } from "./control-operation.js";

/** The operations for which the document lists 503. */
const FALLIBLE = (Object.keys(OPERATIONS) as OperationName[]).filter((name) =>
  (OPERATIONS[name].errors as readonly number[]).includes(503),
);

const operation = z.enum(FALLIBLE);

/** The control operations that make operations answer 503. */
export function operationFaultsControl(faults: OperationFaults) {
  const listed = (): { items: ReturnType<OperationFaults["list"]> } => ({ items: faults.list() });
  return {
    listOperationFaults: controlOperation(
      "GET /faults/operations",
      "Lists the operations that answer 503 because of a fault.",
      {},
      listed,
    ),
    setOperationFault: controlOperation(
      "POST /faults/operations",
      "Makes an operation answer 503 to the next calls, whose number is in calls. Without calls, it answers 503 until the fault is cleared.",
      {
        operation,
        code: z.enum(OPERATION_FAULTS),
        calls: z.int().min(1).nullable().default(null),
      },
      (fault) => {
        faults.set(fault);
        return listed();
      },
    ),
    clearOperationFault: controlOperation(
      "DELETE /faults/operations/{operation}",
      "Clears the fault of an operation.",
      { operation },
      ({ operation: name }) => {
        faults.clear(name);
        return listed();
      },
    ),
  };
}
