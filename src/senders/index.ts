export { stripe, github, twilio, meta } from "./built-in.js";
export { defineSender } from "./define-sender.js";
