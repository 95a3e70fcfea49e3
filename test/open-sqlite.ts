import { loadDriver } from "../src/base/sqlite/sqlite-driver.js";
import type { SqliteDriver } from "../src/base/sqlite/database.js";

/** Opens a database by the driver that stores use in this process. */
export const openSqlite: SqliteDriver["open"] = (source, options) =>
  loadDriver().open(source, options);
