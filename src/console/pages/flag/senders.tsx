import { checksOnlyOf, checksOnlyText, isChecksOnly } from '../../../contract/checks-only.ts';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { FeatureSenders, Sender } from '../../../contract/shapes/verdict.ts';
import { flagAddress, useQuery } from '../../address.ts';
import { usePoll } from '../../api/poll.ts';
import { agoColumn, SeenAgo } from '../../parts/columns.tsx';
import { Reason } from '../../parts/failure.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type FlagPlace, flagPath } from './change.tsx';

const everyMs = 15_000;

const columns: readonly Column<Sender>[] = [
  { key: 'name', title: 'Sender', value: ({ name }) => (name === '__other__' ? 'Others' : name) },
  {
    key: 'version',
    title: 'Version',
    value: ({ version }) => version,
    cell: ({ version }) => version ?? '–',
  },
  {
    key: 'last',
    title: 'Last request',
    value: ({ lastAt }) => lastAt,
    cell: ({ lastAt }) => <SeenAgo at={lastAt} />,
  },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment },
  { key: 'how', title: 'Route', value: ({ transport, route }) => `${route}, ${transport}` },
];

/** The sources of the flag in its environment, if none of them reports use and views. */
export function useChecksOnly(place: FlagPlace): readonly string[] {
  const { data } = usePoll<FeatureSenders>(flagPath(place, 'senders'), everyMs);
  return checksOnlyOf(data?.items.filter(({ environment }) => environment === place.environment) ?? []);
}

/** The senders that still request the flag. */
export function Senders({ place }: { readonly place: FlagPlace }) {
  const { data, error } = usePoll<FeatureSenders>(flagPath(place, 'senders'), everyMs);
  const sources = checksOnlyOf(data?.items.filter(isChecksOnly) ?? []);
  return (
    <section aria-labelledby="flag-senders">
      <h2 id="flag-senders">Senders</h2>
      <Reason error={error} what="The senders" />
      {data !== undefined && (
        <Table
          caption="Senders of the flag"
          columns={columns}
          rows={data.items}
          rowKey={({ environment, name, version, transport, route }) =>
            [environment, name, version, transport, route].join(' ')
          }
          csv={`${place.name}-senders`}
          empty="No sender has requested it yet, in any environment."
        />
      )}
      {sources.length > 0 && <p class="quiet">{checksOnlyText(sources)}</p>}
      {data?.othersLeftOut && <p class="quiet">There were more senders than are recorded.</p>}
    </section>
  );
}

interface SeenProps {
  readonly place: FlagPlace;
  readonly detail: FeatureDetail;
}

/** When the flag was last seen, by environment. */
export function Seen({ place, detail }: SeenProps) {
  const { query } = useQuery();
  const columns: readonly Column<FeatureDetail['environments'][number]>[] = [
    {
      key: 'environment',
      title: 'Environment',
      value: ({ environment }) => environment,
      cell: ({ environment }) =>
        environment === place.environment ? (
          environment
        ) : (
          <a href={flagAddress({ ...place, environment }, query)}>{environment}</a>
        ),
    },
    agoColumn('lastSeenAt', 'Last seen', 'last'),
    agoColumn('firstSeenAt', 'First seen', 'first'),
    {
      key: 'variants',
      title: 'Variants',
      value: ({ variants }) => variants.map(({ variant }) => variant).join(', '),
    },
  ];
  return (
    <section aria-labelledby="flag-seen">
      <h2 id="flag-seen">Environments</h2>
      <Table
        caption="First seen and last seen, by environment"
        columns={columns}
        rows={detail.environments}
        rowKey={({ environment }) => environment}
        csv={`${place.name}-environments`}
        empty="It has not been seen in any environment yet."
      />
    </section>
  );
}
