// A process that tells how long a sync takes in it.
import { measureSync } from "./measure-sync.js";
import { answerQuestions } from "../processes/questions.js";

const SYNCS = 5;

answerQuestions(new Map([["sync", ({ folder }: { folder: string }) => measureSync(folder, SYNCS)]]));
