// A process that measures its own syncs.
import { answerQuestions } from "../processes/questions.js";
import { measureSync } from "./measure-sync.js";

const SYNCS = 5;

answerQuestions({ sync: ({ folder }: { folder: string }) => measureSync(folder, SYNCS) });
