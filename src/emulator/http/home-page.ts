import { API_PREFIX } from "../../api/operations.js";
import { MCP_PATH } from "../mcp/call-mcp.js";
import { CONTROL_PREFIX } from "../control/control-operation.js";

/** Tells what runs here. A browser gets the dashboard instead. */
export const HOME_PAGE = {
  about: "The Product Intelligence service, emulated on this machine by signalbox.",
  parts: [
    { name: "REST API", path: API_PREFIX, about: "needs an API key; the emulator printed some when it started" },
    { name: "Remote MCP", path: MCP_PATH, about: "the same research as tools for models; needs an API key" },
    { name: "OpenAPI", path: "/openapi.json", about: "describes the REST API" },
    { name: "Control API", path: CONTROL_PREFIX, about: "makes keys, publishes signals and advances the clock" },
    { name: "Dashboard", path: `${CONTROL_PREFIX}/ui/`, about: "does the same in a browser" },
  ],
  docs: "docs/emulator.md of the package's repository explains all of this",
} as const;
