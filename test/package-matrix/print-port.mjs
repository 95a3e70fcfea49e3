// Loaded before a quick start that is run as it is printed: puts it on a free port of the loopback, and prints which.
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function listenOnAnyPort(_port, ...rest) {
  this.once("listening", () => process.stdout.write(`at port ${this.address().port}\n`));
  return listen.call(this, 0, "127.0.0.1", ...rest.filter((argument) => typeof argument === "function"));
};
