import type { ExposureShown } from '../../../contract/shapes/exposures.ts';
import { format } from '../../format.ts';
import { type Column, Table } from '../../parts/table.tsx';
import type { Kept } from './kept.ts';

interface ExposuresProps {
  readonly kept: Kept;
  /** The environment that comes first. */
  readonly first: string;
}

/** What is kept of a person: one table for each environment that has something. */
export function Exposures({ kept: { identity, readable, environments }, first }: ExposuresProps) {
  const filled = environments.filter(({ exposures }) => exposures.length > 0);
  const ordered = [...filled].sort((a, b) => Number(b.name === first) - Number(a.name === first));
  if (!readable)
    return (
      <p class="empty">No address can hold this identity, so it cannot be shown. It can be forgotten.</p>
    );
  if (ordered.length === 0)
    return (
      <p class="empty">
        Nothing is kept of <strong>{identity}</strong>. Either the identity is spelt otherwise, or no packet
        named this person in the last weeks.
      </p>
    );
  return (
    <>
      <h2 class="people-name">{identity}</h2>
      {ordered.map(({ name, exposures }) => (
        <Table
          key={name}
          caption={name}
          showCaption
          columns={columns}
          rows={exposures}
          rowKey={({ feature, variant }) => JSON.stringify([feature, variant])}
          sort="-last"
          csv={`exposures-${name}`}
        />
      ))}
    </>
  );
}

const count = (key: 'checks' | 'used' | 'viewed', title: string): Column<ExposureShown> => ({
  key,
  title,
  number: true,
  value: (row) => row[key],
  cell: (row) => format.full(row[key]),
});

const time = (key: 'firstSeenAt' | 'lastSeenAt', short: string, title: string): Column<ExposureShown> => ({
  key: short,
  title,
  value: (row) => row[key],
  cell: (row) => <time dateTime={row[key]}>{format.time(row[key])}</time>,
});

const columns: readonly Column<ExposureShown>[] = [
  { key: 'flag', title: 'Flag', value: ({ feature }) => feature },
  { key: 'variant', title: 'Variant', value: ({ variant }) => variant },
  count('checks', 'Checks'),
  count('used', 'Used'),
  count('viewed', 'Viewed'),
  time('firstSeenAt', 'first', 'First'),
  time('lastSeenAt', 'last', 'Last'),
];
