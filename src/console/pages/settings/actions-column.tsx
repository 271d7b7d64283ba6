import type { ComponentChildren } from 'preact';
import type { Column } from '../../parts/table.tsx';
import { isAdmin } from './role.tsx';

/** The last column of a table: what an Admin can do with a row. Others do not have it. */
export function actionsColumn<Row>(cell: (row: Row) => ComponentChildren): readonly Column<Row>[] {
  return isAdmin() ? [{ key: 'do', title: 'Actions', class: 'settings-do', cell }] : [];
}
