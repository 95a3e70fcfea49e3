export const STORES = ["sqlite", "postgres"] as const;

/** Where a receiver keeps its inbox. */
export type Store = (typeof STORES)[number];

/** A template of a new receiver. Its files are in one or more folders of `templates/`. */
export interface Template {
  name: string;
  description: string;
  /**
   * The folders, in order. A file of a later folder replaces an earlier file of the same path, but
   * a later `package.json` is merged into the earlier one. So a later folder holds only the
   * differences.
   */
  layers: readonly string[];
  /** The name of a sender other than the service. */
  sender?: string;
  /** A service that has to run before the receiver starts, and a command that starts it. */
  needs?: { what: string; command: string };
  /** Commands that run at the same time as the receiver, each in its own terminal. */
  alongside?: readonly string[];
}

/**
 * Whether it is new files for an existing app: then `init` does not install packages or make a git
 * repository.
 */
export const isAddOn = (templateName: string | undefined): boolean => templateName === "add-on";

const POSTGRES = {
  what: "PostgreSQL on 127.0.0.1:5432, or at another DATABASE_URL",
  command:
    "docker run --detach --publish 127.0.0.1:5432:5432 --env POSTGRES_HOST_AUTH_METHOD=trust postgres:17",
};

/**
 * The starter with its inbox in PostgreSQL. The texts of the templates have what differs, between
 * marks: see `planProject`.
 */
export function withPostgres({ needs, ...template }: Template): Template {
  const both = needs && {
    what: `${needs.what}, and ${POSTGRES.what},`,
    command: `${needs.command} && ${POSTGRES.command}`,
  };
  return { ...template, layers: [...template.layers, "postgres"], needs: both ?? POSTGRES };
}

/** The other templates have code of their own for signals. */
export function isForSenders({ name }: Template): boolean {
  return name === "express" || name === "hono";
}

/** The starter for a sender: see `translatorFor`. */
export function withSender(template: Template, sender: string): Template {
  return { ...template, layers: [...template.layers, "sender"], sender };
}

/** The first template is the default. */
export const TEMPLATES: readonly [Template, ...Template[]] = [
  {
    name: "express",
    description: "a new receiver: Express 5, an SQLite (or PostgreSQL) inbox, Docker, tests",
    layers: ["express"],
  },
  {
    name: "bullmq",
    description: "the same with a hand-off into BullMQ on Redis, and a worker process",
    layers: ["express", "bullmq"],
    needs: {
      what: "Redis on 127.0.0.1:6379, or at another REDIS_URL",
      command:
        "docker run --detach --publish 127.0.0.1:6379:6379 redis:8 redis-server --maxmemory-policy noeviction",
    },
    alongside: ["npm run dev:worker"],
  },
  {
    name: "hono",
    description: "as express, with Hono in its place",
    layers: ["express", "hono"],
  },
  {
    name: "add-on",
    description: "new files for the Express app in the folder, and the lines to add to it by hand",
    layers: ["add-on"],
  },
];
