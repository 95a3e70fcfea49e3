import { z } from "zod";
import { OPERATIONS, type OperationName } from "../../api/operations.js";
import { controlOperation } from "./control-operation.js";
import { OPERATION_FAULTS, type OperationFaults } from "../operations/operation-faults.js";

/** The operations for which the document lists 503. */
const FALLIBLE = (Object.keys(OPERATIONS) as OperationName[]).filter((name) =>
  (OPERATIONS[name].errors as readonly number[]).includes(503),
);

const operation = z.enum(FALLIBLE);

/** Lets operations fail. */
export function operationFaultsControl(faults: OperationFaults) {
  const listed = (): { items: ReturnType<OperationFaults["list"]> } => ({ items: faults.list() });
  return {
    listOperationFaults: controlOperation({
      method: "GET",
      path: "/faults/operations",
      about: "Lists the operations that answer 503.",
      input: z.strictObject({}),
      run: listed,
    }),
    setOperationFault: controlOperation({
      method: "POST",
      path: "/faults/operations",
      about: "Lets an operation answer 503, for some calls or until it is cleared.",
      input: z.strictObject({
        operation,
        code: z.enum(OPERATION_FAULTS),
        calls: z.int().min(1).nullable().default(null),
      }),
      run(fault) {
        faults.set(fault);
        return listed();
      },
    }),
    clearOperationFault: controlOperation({
      method: "DELETE",
      path: "/faults/operations/{operation}",
      about: "Lets an operation answer again.",
      input: z.strictObject({ operation }),
      run({ operation: name }) {
        faults.clear(name);
        return listed();
      },
    }),
  };
}
