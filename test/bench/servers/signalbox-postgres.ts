import express from "express";
import { expressHandler } from "signalbox/express";
import { postgresStore } from "signalbox/stores/postgres";
import { PATH } from "./endpoint.js";
import { startOurReceiver } from "./our-receiver.js";
import { serve, serverConfig } from "./serve.js";

const { receiver, handedOff, close } = await startOurReceiver({
  store: postgresStore({ connectionString: serverConfig().database }),
});
const app = express();
app.use(PATH, expressHandler(receiver));
serve({ listener: app, handedOff, close });
