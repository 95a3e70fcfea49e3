import { useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import {
  ActionButton,
  href,
  List,
  Panel,
  useData,
  type Values,
  View,
} from "../../../page/parts/index.js";
import { type Answer, change, control, useAnswer, useDesk } from "./control.js";
import { OperationForm } from "./operation-form.js";

export function Signals() {
  const { account } = useDesk();
  const { account_id } = account;
  const follows = useAnswer("listFollows", { account_id });
  const products = useData("products", () => control.listProducts(), 0);

  return (
    <View title="Signals" isDense>
      <Publish slugs={follows.data?.items.map(({ slug }) => slug) ?? []} />
      <Panel title={`Products that ${account.name} follows`}>
        <p class="hint">
          The account gets signals about these products alone, as they happen and as you publish
          them.
        </p>
        <OperationForm
          operation="follow"
          fields={{ slugs: { label: "Slug", suggestions: products.data?.slugs } }}
          given={{ account_id }}
          action="Follow"
          said={(_, { slugs = "" }) => `${account.name} follows ${slugs}.`}
        />
        <List
          label="Followed products"
          empty="None yet."
          from={follows}
          keyOf="slug"
          columns={[
            { label: "Product", look: "grows", cell: "slug" },
            { label: "Followed", cell: "followed_at" },
            {
              label: "Action",
              cell: ({ slug }) => (
                <ActionButton
                  label="Stop following"
                  of={slug}
                  tone="plain"
                  run={() =>
                    change(
                      `${slug} is not followed any more.`,
                      control.unfollow({ account_id, slug }),
                    )
                  }
                />
              ),
            },
          ]}
        />
      </Panel>
    </View>
  );
}

/** @param props.slugs those to choose from; any other slug can be typed */
function Publish({ slugs }: { slugs: readonly string[] }) {
  const [last, setLast] = useState<(Answer<"publishSignal"> & { type: string }) | null>(null);

  function published(made: Answer<"publishSignal">, { signal_type: type = "" }: Values): string {
    setLast({ ...made, type });
    return `Published ${made.event_id}, sent to ${formatCount(made.registrations, "registration")}.`;
  }

  return (
    <Panel title="Publish a signal">
      <OperationForm
        operation="publishSignal"
        fields={{
          signal_type: { width: "grows" },
          slug: { label: "Product", placeholder: "A slug", suggestions: slugs, width: "grows" },
        }}
        action="Publish"
        said={published}
      />
      {last !== null && (
        <p>
          <code>{last.type}</code> about {last.slug} is the event{" "}
          <a class="mono" href={href(["events", last.event_id])}>
            {last.event_id}
          </a>
          . {last.hint ?? ""}
        </p>
      )}
    </Panel>
  );
}
