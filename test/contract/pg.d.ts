// The package pg has no types of its own. This is what the tests use of it.
declare module "pg" {
  export interface Result<Row> {
    rows: Row[];
    rowCount: number | null;
  }
  export interface Client {
    query<Row>(text: string | object, values?: unknown[]): Promise<Result<Row>>;
    release(error?: Error | boolean): void;
    on(event: "error", listener: (error: Error) => void): this;
    removeListener(event: "error", listener: (error: Error) => void): this;
  }
  export class Pool {
    constructor(config?: object);
    connect(): Promise<Client>;
    query<Row>(text: string | object, values?: unknown[]): Promise<Result<Row>>;
    end(): Promise<void>;
    on(event: "error" | "connect", listener: (subject: never) => void): this;
    removeListener(event: "error" | "connect", listener: (subject: never) => void): this;
  }
}
