import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Column } from './table.tsx';

export interface Selection<Row> {
  readonly keys: ReadonlySet<string>;
  readonly column: Column<Row>;
  clear(): void;
}

/** Returns the selected keys after a click on a checkbox. With Shift, all rows between two clicks are selected. */
export function selectedAfter(
  keys: ReadonlySet<string>,
  order: readonly string[],
  { key, on, from }: { readonly key: string; readonly on: boolean; readonly from: string | undefined },
): ReadonlySet<string> {
  const at = order.indexOf(key);
  const start = from === undefined ? -1 : order.indexOf(from);
  const changed = start < 0 ? [key] : order.slice(Math.min(at, start), Math.max(at, start) + 1);
  const next = new Set(keys);
  for (const each of changed) {
    if (on) next.add(each);
    else next.delete(each);
  }
  return next;
}

/** Lets the reader select rows; with Shift, several rows at once. Hidden rows are deselected. */
export function useSelection<Row>(rows: readonly Row[], rowKey: (row: Row) => string, what: string): Selection<Row> {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const last = useRef<string | undefined>(undefined);
  const order = rows.map(rowKey);
  const keys = chosen.value.size === 0 ? chosen.value : new Set(order.filter((key) => chosen.value.has(key)));
  const set = (key: string, on: boolean, shift: boolean) => {
    chosen.value = selectedAfter(keys, order, { key, on, from: shift ? last.current : undefined });
    last.current = key;
  };
  const isAll = keys.size > 0 && keys.size === order.length;
  return {
    keys,
    column: {
      key: 'select',
      title: `Select ${what}s`,
      width: '2.2rem',
      head: (
        <input
          type="checkbox"
          aria-label={`Select all ${what}s`}
          checked={isAll}
          ref={(input) => {
            if (input !== null) input.indeterminate = keys.size > 0 && !isAll;
          }}
          onClick={() => (chosen.value = isAll ? new Set() : new Set(order))}
        />
      ),
      cell: (row) => (
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${what} ${rowKey(row)}`}
          checked={keys.has(rowKey(row))}
          onClick={({ currentTarget, shiftKey }) => set(rowKey(row), currentTarget.checked, shiftKey)}
        />
      ),
    },
    clear: () => (chosen.value = new Set()),
  };
}
