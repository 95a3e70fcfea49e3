import type { JSX } from "preact";
import type { InvestigationReport } from "../../../../api/report.js";
import { visible } from "../../parts/visible-text.js";

/** Anything in the lists of a report, whose fields the service's document does not define. */
type Loose = Readonly<Record<string, unknown>>;

const looseOf = (list: readonly unknown[] | undefined): Loose[] =>
  (list ?? []).filter((each): each is Loose => typeof each === "object" && each !== null);

/** A field as text; empty if there is no such field. */
function textOf(item: Loose, name: string): string {
  const value = item[name];
  return typeof value === "string" ? visible(value) : "";
}

/** A report to read: what it says, and its sources. */
export function Report({ report }: { report: InvestigationReport }): JSX.Element {
  const { narrative, analysis, conclusion, caveat, sources } = report;
  const sections = [
    ...looseOf(narrative?.sections).map((section) => [textOf(section, "title"), textOf(section, "text")] as const),
    ["Conclusion", visible(conclusion)] as const,
    ["Caveat", visible(caveat)] as const,
  ];
  return (
    <article class="panel report">
      <h2>{visible(narrative?.title ?? "Report")}</h2>
      <p>{visible(narrative?.summary?.text ?? analysis.overview)}</p>
      {sections.map(([title, text], index) => (
        <section key={index}>
          <h3>{title}</h3>
          <p>{text}</p>
        </section>
      ))}
      <section>
        <h3>Sources</h3>
        <ol>
          {looseOf(sources).map((source, index) => (
            <li key={index}>
              {textOf(source, "title")} <span class="muted mono">{textOf(source, "url")}</span>
            </li>
          ))}
        </ol>
      </section>
    </article>
  );
}
