// The part of Koa that these tests use.
declare module "koa" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
  interface Context {
    req: IncomingMessage;
    res: ServerResponse;
    path: string;
    respond: boolean;
  }
  export default class Koa {
    silent: boolean;
    use(middleware: (context: Context, next: () => Promise<void>) => unknown): this;
    callback(): RequestListener;
  }
}
