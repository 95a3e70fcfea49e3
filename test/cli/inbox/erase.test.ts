import { describe, expect, test } from "vitest";
import { testWith } from "../../prerequisites.js";
import { systemClock } from "../../../src/base/time/clock.js";
import { callCli } from "../call-cli.js";
import { fill, KINDS, newFile } from "../fill-inbox.js";
import { ndjson } from "../run-cli.js";

const MESSAGE = String.raw`{"mail":"m\u00fcller@example.com"}`;
const FORM = "user=M%C3%BCller%40example.com";

describe.each(KINDS)("an inbox in $kind:", ({ kind, isThere, newPlace }) => {
  testWith(isThere)(
    "a person is found, exported and erased by subject, and by a text however it is written",
    async () => {
      const place = newPlace();
      const inbox = (...words: string[]) => callCli(["inbox", ...words, ...place.args]);
      await fill(place, [
        { eventId: "evt_1", subject: "ann", state: "dead" },
        { eventId: "evt_2", subject: "bob", body: MESSAGE },
        { eventId: "evt_3", state: "dead", body: FORM },
        { eventId: "evt_4", subject: "bob", body: "{}" },
      ]);
      const dry = await inbox("erase", "--subject", "ann", "--dry-run");
      expect(dry).toMatchObject({ exitCode: 0, stdout: "evt_1\nwould erase 1 event of default\n" });
      const found: [words: string[], ids: string[]][] = [
        [["--subject", "ann"], ["evt_1"]],
        [
          ["--containing", "Müller@example"],
          ["evt_2", "evt_3"],
        ],
        [["evt_4"], ["evt_4"]],
      ];
      const idsOf = (run: Parameters<typeof ndjson>[0]) =>
        ndjson(run).map((line) => line["eventId"]);
      for (const [words, ids] of found) {
        expect(idsOf(await inbox("export", ...words))).toEqual(ids);
        expect(idsOf(await inbox("erase", ...words, "--dry-run", "--json")).slice(0, -1)).toEqual(
          ids,
        );
      }
      const dead = await inbox("export", "--containing", "Müller@example", "--state", "dead");
      expect(idsOf(dead)).toEqual(["evt_3"]);
      const asked = await inbox("erase", "--containing", "Müller@example");
      expect(asked).toMatchObject({ exitCode: 2, stdout: "" });
      expect(asked.stderr).toContain("this erases 2 events; add --yes");
      expect((await inbox("erase", "evt_1", "--subject", "ann")).exitCode).toBe(2);
      const unknown = await inbox("erase", "evt_1", "evt_9", "evt_1", "--dry-run");
      expect(unknown).toMatchObject({ exitCode: 1, stdout: dry.stdout });
      expect(unknown.stderr).toContain("no event evt_9 in this inbox");
      expect((await inbox("erase", "--containing", "abc")).exitCode).toBe(2);
      expect((await inbox("show", "evt_2", "--payload")).stdout).toContain("mail");

      const files = kind === "a file" ? "clean" : "not yet";
      const [text] = ndjson(
        await inbox("erase", "--containing", "müller@EXAMPLE", "--yes", "--json"),
      );
      expect(text).toMatchObject({ erased: 2, files });
      expect((await inbox("erase", "evt_1", "--yes")).stdout).toBe(
        `erased 1 event of default; files: ${files}\n`,
      );
      const lines = ndjson(await inbox("export"));
      expect(
        lines.map((line) => [line["eventId"], line["lastError"], line["bodyBase64"] === null]),
      ).toEqual([
        ["evt_1", "erased", true],
        ["evt_2", "erased", true],
        ["evt_3", "erased", true],
        ["evt_4", null, false],
      ]);
      expect((await inbox("vacuum")).exitCode).toBe(kind === "a file" ? 0 : 2);
    },
  );
});

test("of several endpoints the ids name theirs, as erase takes them", async () => {
  const place = newFile();
  for (const endpoint of ["a", "b"])
    await fill(place, [{ eventId: "evt_1", subject: "ann" }], endpoint);
  const erase = (...words: string[]) => callCli(["inbox", "erase", ...words, ...place.args]);
  const { stdout } = await erase("--subject", "ann", "--dry-run");
  expect(stdout).toMatch(/^a\/evt_1\n.*\nb\/evt_1\n/);
  expect(await erase("evt_1", "--yes")).toMatchObject({ exitCode: 2, stdout: "" });
  expect((await erase("b/evt_1", "--yes")).stdout).toMatch(/^erased 1 event of b;/);
});

test("an inbox that a receiver has open is not vacuumed", async () => {
  const place = newFile();
  await fill(place, [{ eventId: "evt_1" }]);
  const store = place.createStore();
  await store.open({ endpoint: "default", clock: systemClock });
  const run = await callCli(["inbox", "vacuum", ...place.args]);
  expect(run).toMatchObject({ exitCode: 1, stdout: "" });
  expect(run.stderr).toContain("a receiver has the inbox open: stop it");
  await store.close("default");
});
