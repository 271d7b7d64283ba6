import type { FeatureDetailShown } from '../../../contract/shapes/feature.ts';
import { environmentAddress, kept, useQuery } from '../../address.ts';
import { withQuery } from '../../api/client.ts';
import { type Column, Table } from '../../parts/table.tsx';
import type { FlagPlace } from './paths.ts';
import { Ago } from './senders.tsx';

type Row = FeatureDetailShown['environments'][number];

/** When the flag was last seen, in each environment. */
export function Seen({ place, detail }: { readonly place: FlagPlace; readonly detail: FeatureDetailShown }) {
  const { query } = useQuery();
  const address = (environment: string) =>
    withQuery(environmentAddress(place.application, environment, 'flag'), {
      ...kept(query),
      name: place.name,
    });
  const columns: readonly Column<Row>[] = [
    {
      key: 'environment',
      title: 'Environment',
      value: ({ environment }) => environment,
      cell: ({ environment }) =>
        environment === place.environment ? environment : <a href={address(environment)}>{environment}</a>,
    },
    {
      key: 'last',
      title: 'Last seen',
      value: ({ lastSeenAt }) => lastSeenAt,
      cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} />,
    },
    {
      key: 'first',
      title: 'First seen',
      value: ({ firstSeenAt }) => firstSeenAt,
      cell: ({ firstSeenAt }) => <Ago at={firstSeenAt} />,
    },
    {
      key: 'variants',
      title: 'Variants',
      value: ({ variants }) => variants.map(({ variant }) => variant).join(', '),
    },
  ];
  return (
    <section aria-labelledby="flag-seen">
      <h2 id="flag-seen">Seen in</h2>
      <Table
        caption="When it was seen, by environment"
        columns={columns}
        rows={detail.environments}
        rowKey={({ environment }) => environment}
        csv={`${place.name}-environments`}
        empty="It was not seen in any environment yet."
      />
    </section>
  );
}
