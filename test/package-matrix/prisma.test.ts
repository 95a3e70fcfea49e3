import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hasServer, testWith } from "../prerequisites.js";
import { COMPLETED_ONCE, completeByRecipe } from "../repo/run-recipe.js";
import { run } from "../templates/commands.js";
import { fetchTools, type Fetched } from "../toolchain/fetch-tools.js";

const hasPostgres = await hasServer(5432);
const [prisma] = (await fetchTools({
  prisma: "7",
  "@prisma/client": "7",
  "@prisma/adapter-pg": "7",
})) as [Fetched];

const SCHEMA = `
generator client {
  provider = "prisma-client-js"
}
datasource db {
  provider = "postgresql"
}
model PriceAlert {
  id      Int    @id @default(autoincrement())
  product String
  text    String
  @@map("price_alert")
}
`;

if (!prisma.ok) test.skip(`Prisma: ${prisma.reason}`);
else {
  const folder = dirname(dirname(prisma.folder));
  testWith(hasPostgres)(
    "Prisma completes the event with its effect, and has no effect when it was taken over",
    async () => {
      mkdirSync(join(folder, "prisma"));
      writeFileSync(join(folder, "prisma/schema.prisma"), SCHEMA);
      // The command would fetch this engine, which it needs for migrations alone.
      const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
      await run(folder, "npx", ["prisma", "generate"], env);
      const makeDb = `
      import { PrismaPg } from "@prisma/adapter-pg";
      import { PrismaClient } from "@prisma/client";
      const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }, { schema }) });`;
      expect(await completeByRecipe("Prisma", makeDb, folder)).toEqual(COMPLETED_ONCE);
    },
  );
}
