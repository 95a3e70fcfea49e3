import { useState } from "preact/hooks";
import { formatCount } from "../../../base/text/format.js";
import { visible } from "../../../base/text/visible-text.js";
import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import { ActionButton, ActionForm, type Values } from "../../../page/parts/actions.js";
import { View } from "../../../page/parts/page-frame.js";
import { List, Moment, Panel } from "../../../page/parts/panel.js";
import { href } from "../../../page/parts/use-route.js";
import { type Answer, change, control, typed, useAnswer, useDesk } from "./control.js";

export function Signals() {
  const { account } = useDesk();
  const { account_id } = account;
  const follows = useAnswer("listFollows", { account_id });

  const follow = ({ slug = "" }: Values): Promise<string> =>
    change(
      follows,
      `${visible(account.name)} follows ${visible(slug)}.`,
      control.follow({ account_id, slugs: [slug] }),
    );
  const unfollow = (slug: string): Promise<string> =>
    change(
      follows,
      `${visible(slug)} is not followed any more.`,
      control.unfollow({ account_id, slug }),
    );

  return (
    <View title="Signals">
      <Publish slugs={follows.data?.items.map(({ slug }) => slug) ?? []} />
      <Panel title={`Products that ${visible(account.name)} follows`}>
        <p class="hint">
          The account gets signals about these products alone, as they happen and as you publish
          them. The operation <code>GET /v1/research/rankings</code> has the slugs.
        </p>
        <ActionForm
          fields={[{ name: "slug", label: "Slug", isRequired: true }]}
          action="Follow"
          run={follow}
        />
        <List
          label="Followed products"
          empty="None yet."
          from={follows}
          keyOf={({ slug }) => slug}
          columns={[
            { label: "Product", grows: true, cell: ({ slug }) => visible(slug) },
            {
              label: "Followed",
              whole: true,
              cell: ({ followed_at }) => <Moment at={followed_at} />,
            },
            {
              label: "Action",
              whole: true,
              cell: ({ slug }) => (
                <ActionButton
                  label="Stop following"
                  of={visible(slug)}
                  tone="plain"
                  run={() => unfollow(slug)}
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

  async function publish({ type = "", slug = "" }: Values): Promise<string> {
    const made = await control.publishSignal({ signal_type: typed(type), slug });
    setLast({ ...made, type });
    return `Published ${made.event_id}, sent to ${formatCount(made.registrations, "registration")}.`;
  }

  return (
    <Panel title="Publish a signal">
      <ActionForm
        fields={[
          { name: "type", label: "Signal type", choices: SIGNAL_TYPES, width: "grows" },
          {
            name: "slug",
            label: "Product",
            placeholder: "A slug",
            suggestions: slugs,
            isRequired: true,
            width: "grows",
          },
        ]}
        action="Publish"
        run={publish}
      />
      {last !== null && (
        <p>
          <code>{last.type}</code> about {visible(last.slug)} is the event{" "}
          <a class="mono" href={href(["events", last.event_id])}>
            {last.event_id}
          </a>
          . {visible(last.hint ?? "")}
        </p>
      )}
    </Panel>
  );
}
