import { expect } from "vitest";
import { ownDatabase } from "../contract/own-database.js";
import { POSTGRES_PORT } from "../contract/postgres-medium.js";
import { hasServer, testWith } from "../prerequisites.js";
import { freePort, run, start } from "./commands.js";
import { installFast, scaffold } from "./scaffold.js";

testWith(await hasServer(POSTGRES_PORT))(
  "express --store postgres: its types and lint are clean, and npm run dev handles the first signal from its database",
  { timeout: 5 * 60_000 },
  async () => {
    const DATABASE_URL = await ownDatabase();
    const project = await scaffold("express", "--store", "postgres");
    await installFast(project);
    await run(project, "npm", ["run", "typecheck"]);
    await run(project, "npm", ["run", "lint"]);
    const dev = start(project, "npm", ["run", "dev"], { DATABASE_URL, PORT: String(await freePort()) });
    await dev.linesWith(/"team":"pricing"/);
    await dev.stop();
    const stats = ["signalbox", "inbox", "stats", "--db", DATABASE_URL, "--schema", "signalbox_my_receiver", "--json"];
    expect(JSON.parse((await run(project, "npx", stats)).stdout)).toMatchObject({ ready: 0, dead: 0 });
  },
);
