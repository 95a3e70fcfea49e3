// The parts that both pages are made of, all of them for a browser.
export { ActionButton, ActionForm, type Field, FilterForm, type Values } from "./actions.js";
export { formatTime, shortTime } from "./clock-choice.js";
export { followLive } from "./follow-live.js";
export {
  PageFrame,
  type Said,
  showPage,
  type Tone,
  UnknownView,
  usePage,
  useRoot,
  View,
} from "./page-frame.js";
export {
  Badge,
  CodeBlock,
  CopyButton,
  type Column,
  DataTable,
  Facts,
  List,
  Loaded,
  Moment,
  Panel,
  Problem,
  State,
} from "./panel.js";
export { address, type Query, request, type RequestOptions, RequestProblem } from "./request.js";
export { TimelineSteps } from "./timeline.js";
export { type Data, useData } from "./use-data.js";
export { go, href, useQuery, useRoute } from "./use-route.js";
