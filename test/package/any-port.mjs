// Loaded before a quick start that is run as it is printed: puts it on a free port of the loopback,
// and tells which.
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function listenOnAnyPort(_port, ...rest) {
  this.once("listening", () => {
    const { port } = this.address();
    if (process.send === undefined) process.stdout.write(`at port ${port}\n`);
    else process.send({ port });
  });
  return listen.call(
    this,
    0,
    "127.0.0.1",
    ...rest.filter((argument) => typeof argument === "function"),
  );
};
