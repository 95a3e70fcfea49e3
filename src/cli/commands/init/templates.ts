/** A new receiver, made from one or more folders of `templates/`. */
export interface ProjectTemplate {
  kind: "project";
  name: string;
  description: string;
  /**
   * The folders. A file of a later one replaces the file of the same path, and its `package.json` is merged into the one
   * before. So a template holds only what is its own.
   */
  layers: readonly [string, ...string[]];
  /** What has to run before it starts, and a command for that. */
  needs?: { what: string; command: string };
  /** Commands that run beside the receiver, each in its own terminal. */
  alongside?: readonly string[];
}

/** New files for an app that exists. Nothing is installed, and no repository is made. */
export interface AddOnTemplate {
  kind: "add-on";
  name: string;
  description: string;
}

export type Template = ProjectTemplate | AddOnTemplate;

/** The first one is the default. */
export const TEMPLATES: readonly [Template, ...Template[]] = [
  {
    kind: "project",
    name: "express",
    description: "a new receiver: Express 5, an SQLite inbox, Docker, tests",
    layers: ["express"],
  },
  {
    kind: "project",
    name: "bullmq",
    description: "the same with a hand-off into BullMQ on Redis, and a worker process",
    layers: ["express", "bullmq"],
    needs: {
      what: "a Redis on 127.0.0.1:6379, or where REDIS_URL says",
      command: "docker run --detach --publish 127.0.0.1:6379:6379 redis:8 redis-server --maxmemory-policy noeviction",
    },
    alongside: ["npm run worker"],
  },
  {
    kind: "add-on",
    name: "add-on",
    description: "new files for the Express app in the folder, and the lines to add to it by hand",
  },
];
