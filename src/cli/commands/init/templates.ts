import { planAddOn, type AddOnOptions, type AddOnPlan } from "./add-on.js";

/** A whole new receiver, out of one or more folders of `templates/`. */
export interface ProjectTemplate {
  kind: "project";
  name: string;
  description: string;
  /**
   * The folders, each laid over the one before: a file of the same path takes its place, and a `package.json` is merged
   * into it. So a template holds only what is its own.
   */
  layers: readonly [string, ...string[]];
  /** What has to run before it starts, as it can be typed. */
  needs?: { what: string; command: string };
  /** What runs beside the receiver, each in a terminal of its own. */
  alongside?: readonly string[];
}

/** New files for an app that exists. No dependencies are installed and no repository is made there. */
export interface AddOnTemplate {
  kind: "add-on";
  name: string;
  description: string;
  /**
   * @param appDir the app's folder
   * @throws CliError when nothing sensible can be written there, or a file of somebody's is in the way
   */
  plan(appDir: string, options: AddOnOptions): Promise<AddOnPlan>;
}

export type Template = ProjectTemplate | AddOnTemplate;

/** The first one is what is taken where nobody chooses. */
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
    plan: planAddOn,
  },
];
