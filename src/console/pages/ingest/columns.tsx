import { format } from '../../format.ts';
import type { Column } from '../../parts/table.tsx';

/** How often something came, and when it came last. @param lastOf gives the time of the last */
export function countAndLast<Row extends { readonly count: number }>(
  lastOf: (row: Row) => string,
): readonly Column<Row>[] {
  return [
    {
      key: 'count',
      title: 'Count',
      number: true,
      value: ({ count }) => count,
      cell: ({ count }) => format.full(count),
    },
    {
      key: 'last',
      title: 'Last',
      value: lastOf,
      cell: (row) => <time dateTime={lastOf(row)}>{format.time(lastOf(row))}</time>,
    },
  ];
}
