// node:http that reads the body and answers: nothing on Node is faster.
import { serve } from "./serve.js";

const ANSWER = Buffer.from('{"received":true}');

serve({
  listener(request, response) {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      Buffer.concat(chunks);
      response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": ANSWER.length,
      });
      response.end(ANSWER);
    });
  },
});
