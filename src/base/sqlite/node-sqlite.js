import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { safely, SignalboxError } from "../errors.js";
/** SQLite of Node itself. @returns undefined where Node has none */
export function nodeSqlite() {
    // Not by `import`, which would fail on a Node without it.
    const load = createRequire(process.execPath);
    const sqlite = safely(() => load("node:sqlite"), undefined);
    if (sqlite === undefined)
        return undefined;
    return {
        name: "node:sqlite",
        open: (source, options = {}) => new NodeSqlite(open(sqlite, source, options)),
    };
}
function open({ DatabaseSync }, source, { timeout, readonly, fileMustExist }) {
    return named(() => {
        const options = { timeout: timeout ?? 5000, readOnly: readonly ?? false };
        if (typeof source === "string") {
            // Only an address can say that the file must be there.
            const mode = fileMustExist === true && readonly !== true;
            return new DatabaseSync(mode ? existing(source) : source, options);
        }
        const db = new DatabaseSync(":memory:", options);
        if (db.deserialize === undefined)
            throw noSnapshots();
        db.deserialize(source);
        return db;
    });
}
function existing(path) {
    const url = pathToFileURL(path);
    url.search = "mode=rw";
    return url;
}
function noSnapshots() {
    return new SignalboxError("store_unsupported", `The SQLite of Node ${process.versions.node} makes no snapshots.`, "Use Node 24, or run: npm install better-sqlite3");
}
/** Gives Node's SQLite the form of better-sqlite3. */
class NodeSqlite {
    #db;
    #steps = new Map();
    constructor(db) {
        this.#db = db;
    }
    prepare(sql) {
        // The rows have the type that the caller says, as they do in better-sqlite3.
        return new PreparedStatement(named(() => this.#db.prepare(sql)));
    }
    exec(sql) {
        named(() => this.#db.exec(sql));
    }
    pragma(source, { simple = false } = {}) {
        const statement = this.prepare(`PRAGMA ${source}`);
        return simple ? statement.pluck().get() : statement.all();
    }
    transaction(work) {
        const run = (begin) => (...args) => {
            const isInner = this.#db.isTransaction;
            this.#step(isInner ? "SAVEPOINT inner" : begin);
            try {
                const result = work(...args);
                this.#step(isInner ? "RELEASE inner" : "COMMIT");
                return result;
            }
            catch (error) {
                // After some errors, such as a full disk, SQLite has undone it already.
                if (this.#db.isTransaction)
                    this.exec(isInner ? "ROLLBACK TO inner; RELEASE inner" : "ROLLBACK");
                throw error;
            }
        };
        return Object.assign(run("BEGIN"), { immediate: run("BEGIN IMMEDIATE") });
    }
    serialize() {
        return named(() => {
            const bytes = this.#db.serialize?.();
            if (bytes === undefined)
                throw noSnapshots();
            return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        });
    }
    close() {
        named(() => this.#db.close());
    }
    /** A commit has two of these, which are prepared once. */
    #step(sql) {
        let statement = this.#steps.get(sql);
        if (statement === undefined)
            this.#steps.set(sql, (statement = named(() => this.#db.prepare(sql))));
        named(() => statement.run());
    }
}
class PreparedStatement {
    #statement;
    #isPlucked = false;
    constructor(statement) {
        this.#statement = statement;
        statement.setAllowUnknownNamedParameters(true);
    }
    get(...bound) {
        const row = named(() => this.#statement.get(...bound));
        return row === undefined ? undefined : this.#valueOf(row);
    }
    all(...bound) {
        return named(() => this.#statement.all(...bound)).map((row) => this.#valueOf(row));
    }
    run(...bound) {
        return named(() => this.#statement.run(...bound));
    }
    pluck() {
        this.#isPlucked = true;
        this.#statement.setReturnArrays(true);
        return this;
    }
    /** Node gives its rows no prototype, which users of an event would notice. */
    #valueOf(row) {
        return this.#isPlucked ? row[0] : { ...row };
    }
}
/** Names of SQLite's results by their numbers, https://www.sqlite.org/rescode.html. */
const RESULTS = ("OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL " +
    "EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB").split(" ");
/** What is told apart of the more exact ones. */
const EXACT = {
    522: "IOERR_SHORT_READ",
    1034: "IOERR_FSYNC",
    4874: "IOERR_SHMSIZE",
};
/** Gives an error of SQLite the code that better-sqlite3 gives it. */
function named(work) {
    try {
        return work();
    }
    catch (error) {
        const { errcode } = error;
        if (errcode !== undefined)
            Object.assign(error, { code: `SQLITE_${EXACT[errcode] ?? RESULTS[errcode & 255]}` });
        throw error;
    }
}
