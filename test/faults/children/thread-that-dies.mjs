// Loaded before a receiver: the store's background thread is ended in the middle of a task, each
// time it is given one of this name (DIES_IN).
import { isMainThread, Worker } from "node:worker_threads";

if (isMainThread) {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    post.call(this, message, ...rest);
    if (message?.name !== process.env.DIES_IN) return;
    process.stderr.write(`the thread dies in ${message.name}\n`);
    void this.terminate();
  };
}
