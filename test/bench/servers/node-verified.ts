// node:http that reads the body, verifies its signature and parses it, and keeps nothing.
import { isAuthentic } from "../verification/is-authentic.js";
import { serve } from "./serve.js";

const ANSWER = Buffer.from('{"received":true}');
const REFUSAL = Buffer.from('{"received":false}');

serve({
  listener(request, response) {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const isSound =
        isAuthentic(String(request.headers["x-service-signature"]), body) &&
        typeof (JSON.parse(body.toString()) as { id?: unknown }).id === "string";
      const answer = isSound ? ANSWER : REFUSAL;
      response.writeHead(isSound ? 200 : 401, {
        "Content-Type": "application/json",
        "Content-Length": answer.length,
      });
      response.end(answer);
    });
  },
});
