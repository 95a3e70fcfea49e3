import { ignore } from "../../../base/errors.js";
import { createRun, ignoreErrorsOf, makePool, type Run } from "./connection.js";
import { prepareSchema } from "./schema.js";
import { storeError } from "./store-error.js";

/** For what no store does: gives `act` the database of an inbox that is there. */
export async function withSchema<Result>(
  connectionString: string,
  schema: string,
  act: (run: Run) => Promise<Result>,
): Promise<Result> {
  const pool = await makePool(connectionString);
  pool.on("error", ignore);
  pool.on("connect", ignoreErrorsOf);
  try {
    const { run } = createRun(pool);
    await prepareSchema(run, schema, false);
    return await act(run);
  } catch (error) {
    throw storeError(error, schema);
  } finally {
    await pool.end().catch(ignore);
  }
}
