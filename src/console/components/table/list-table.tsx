import type { List } from '../../api/list.ts';
import { Reason, Skeleton } from '../failure.tsx';
import { Table, type TableProps } from './table.tsx';

export interface ListTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  /** A paged list. A list within another resource is read as a whole, so it has no further pages. */
  readonly list: Pick<List<Row>, 'items' | 'reload'> & Partial<List<Row>>;
}

/** A table of a list in pages: the loaded items, and a button for more. */
export function ListTable<Row>({ list, ...table }: ListTableProps<Row>) {
  const { items, more, loading, error } = list;
  if (items === undefined) {
    return error === undefined ? (
      <Skeleton kind="table" />
    ) : (
      <Reason error={error} onRetry={() => void list.reload()} />
    );
  }
  return (
    <>
      <Table {...table} rows={items} />
      <Reason error={error} />
      {more && (
        <p class="actions">
          <button type="button" disabled={loading} onClick={() => void list.next?.()}>
            {loading ? 'Loading …' : 'Show more'}
          </button>
          <span class="quiet">{items.length} shown</span>
        </p>
      )}
    </>
  );
}
