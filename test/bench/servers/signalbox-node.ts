import { nodeHandler } from "signalbox/node";
import { startOurReceiver } from "./our-receiver.js";
import { serve } from "./serve.js";

const { receiver, handedOff, close } = await startOurReceiver();
serve({ listener: nodeHandler(receiver), handedOff, close });
