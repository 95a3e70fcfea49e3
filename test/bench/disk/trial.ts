// A process that measures its own syncs.
import { measureSync } from "./measure-sync.js";
import { answerQuestions } from "../processes/questions.js";

const SYNCS = 5;

answerQuestions({ sync: ({ folder }: { folder: string }) => measureSync(folder, SYNCS) });
