export const STORES = ["sqlite", "postgres"] as const;

/** Where a receiver keeps its inbox. */
export type Store = (typeof STORES)[number];

/** A service that has to run before the receiver starts, and a command that starts it. */
export interface Need {
  what: string;
  command: string;
}

export interface Template {
  name: string;
  description: string;
  /** The folder of `templates/` with what differs from `express`, on which all starters are built. */
  layer?: string;
  /** Its own code is for signals alone. */
  signalsOnly?: true;
  needs?: Need;
  /** Commands that run at the same time as the receiver, each in its own terminal. */
  alongside?: readonly string[];
}

/** Whether it is new files for an existing app: then nothing is installed. */
export const isAddOn = (templateName: string | undefined): boolean => templateName === "add-on";

export const POSTGRES: Need = {
  what: "PostgreSQL on 127.0.0.1:5432, or at another DATABASE_URL",
  command:
    "docker run --detach --publish 127.0.0.1:5432:5432 --env POSTGRES_HOST_AUTH_METHOD=trust postgres:17",
};

/** The first template is the default. */
export const TEMPLATES: readonly [Template, ...Template[]] = [
  {
    name: "express",
    description: "a new receiver: Express 5, an SQLite (or PostgreSQL) inbox, Docker, tests",
  },
  {
    name: "bullmq",
    description: "the same with a hand-off into BullMQ on Redis, and a worker process",
    layer: "bullmq",
    signalsOnly: true,
    needs: {
      what: "Redis on 127.0.0.1:6379, or at another REDIS_URL",
      command:
        "docker run --detach --publish 127.0.0.1:6379:6379 redis:8 redis-server --maxmemory-policy noeviction",
    },
    alongside: ["npm run dev:worker"],
  },
  { name: "hono", description: "as express, with Hono in its place", layer: "hono" },
  {
    name: "add-on",
    description: "new files for the Express app in the folder, and the lines to add to it by hand",
  },
];
