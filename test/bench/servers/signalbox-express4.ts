import express from "express4";
import { expressHandler } from "signalbox/express";
import { PATH } from "./endpoint.js";
import { startOurReceiver } from "./our-receiver.js";
import { serve } from "./serve.js";

const { receiver, handedOff, close } = await startOurReceiver();
const app = express();
app.use(PATH, expressHandler(receiver));
serve({ listener: app, handedOff, close });
