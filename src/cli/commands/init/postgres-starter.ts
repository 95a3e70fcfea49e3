import type { ProjectTemplate } from "./templates.js";

const DATABASE_URL = "postgres://postgres@127.0.0.1:5432/postgres";

/**
 * What a starter has in place of its lines about SQLite, in any of its files. A layer of whole files would be a copy of most
 * files of each starter.
 */
const EDITS: readonly (readonly [from: RegExp, to: string])[] = [
  [/sqliteStore(?= \} from)/g, "postgresStore"],
  [/signalbox\/stores\/sqlite/g, "signalbox/stores/postgres"],
  [
    /sqliteStore\(config\.INBOX_PATH\)/g,
    'postgresStore({ connectionString: config.DATABASE_URL, schema: "{{schema}}" })',
  ],
  [/INBOX_PATH: z\.string\(\)\.default\(".*"\)/g, `DATABASE_URL: z.string().default("${DATABASE_URL}")`],
  [/^# INBOX_PATH=.*$/gm, `# DATABASE_URL=${DATABASE_URL}`],
  // The Dockerfile.
  [/ INBOX_PATH=\/data\/signals\.db/g, ""],
  [
    /^# The inbox and the signing secrets .*\n# .*$/gm,
    "# The signing secrets are in a volume, so they survive the container.",
  ],
  // The compose file.
  [/^ {4}env_file:$/gm, "    depends_on:\n      postgres:\n        condition: service_healthy\n    env_file:"],
  [/INBOX_PATH: \/data\/signals\.db/g, "DATABASE_URL: postgres://postgres@postgres/postgres"],
  [
    /^volumes:\n(?= {2}data:)/gm,
    `  # Only the services of this file can reach it, so it needs no password.
  postgres:
    image: postgres:17
    restart: unless-stopped
    environment:
      POSTGRES_HOST_AUTH_METHOD: trust
    healthcheck:
      test: ["CMD", "pg_isready", "--username=postgres"]
      interval: 1s
      retries: 60
    volumes:
      - postgres:/var/lib/postgresql/data

volumes:
  postgres:
`,
  ],
  // The README.
  [/^## Start$/gm, "## Start\n\nStart PostgreSQL first, on `127.0.0.1:5432` or at the address in `DATABASE_URL`."],
  [/`INBOX_PATH` {2}( *)\| `signals\.db` {4}/g, "`DATABASE_URL`$1| `127.0.0.1:5432`"],
  [/the inbox, an SQLite file on a local disk/g, "the PostgreSQL database of the inbox     "],
  [/stay in the inbox:$/gm, "stay in the inbox, in the schema `{{schema}}`. With another `DATABASE_URL`, name that:"],
  [/--db signals\.db/g, `--db ${DATABASE_URL} --schema {{schema}}`],
  [/has the inbox and the file of secrets/g, "has the file of secrets"],
  [/Only one container at a time can use the\ninbox, .*$/gm, "Several containers can use the\ninbox at the same time."],
];

/** The starter with its inbox in PostgreSQL. */
export function withPostgres(template: ProjectTemplate): ProjectTemplate {
  const { needs } = template;
  const what = "PostgreSQL on 127.0.0.1:5432, or at another DATABASE_URL";
  const command = "docker run --detach --publish 127.0.0.1:5432:5432 --env POSTGRES_HOST_AUTH_METHOD=trust postgres:17";
  return {
    ...template,
    layers: [...template.layers, "postgres"],
    edit: (content) => EDITS.reduce((text, [from, to]) => text.replace(from, to), content),
    needs:
      needs === undefined
        ? { what, command }
        : { what: `${needs.what}, and ${what},`, command: `${needs.command} && ${command}` },
  };
}
