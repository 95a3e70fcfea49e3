import { z } from "zod";
import { SIGNAL_TYPES } from "../events/signal-types.js";

/** A signal type that can be subscribed to (service document, Signal types). */
export const signalTypeSchema = z.enum(SIGNAL_TYPES);
