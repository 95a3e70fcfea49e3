import { nearMiss } from "../../options/near-miss.js";
import { ServiceError } from "./service-error.js";

/** What is wrong with one parameter. Neither repeats a value of the request. */
export interface ParameterProblem {
  /** Its path, such as `signal_types.0`; empty for the whole of a body. */
  parameter: string;
  problem: string;
}

const LONGEST_NAME = 64;
/** Longer ones, and those with odd characters, are not repeated either. */
const PLAIN_NAME = /^[\w.-]{1,64}$/;

/** A name that a request made up, as an answer may show it. */
export function shownName(name: string): string {
  return PLAIN_NAME.test(name) ? name : "(a name with other characters than letters, digits, _, . and -)";
}

/** What is wrong with a parameter that there is not. */
export function unknownProblem(name: string, known: readonly string[]): string {
  const meant = nearMiss(name.slice(0, LONGEST_NAME), known);
  return meant === undefined ? "is not known" : `is not known (did you mean ${meant}?)`;
}

/** The refusal of parameters: the message names each, `details` lists them. */
export function parameterError(
  code: "INVALID_PARAMETERS" | "INVALID_BODY",
  problems: readonly ParameterProblem[],
): ServiceError {
  const lines = problems.map(({ parameter, problem }) => (parameter === "" ? problem : `${parameter}: ${problem}`));
  return new ServiceError(code, `${lines.join("; ")}.`, { details: problems });
}
