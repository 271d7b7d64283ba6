/** A column and a direction, as in the address of a page: `checks`, or `-checks` for descending order. */
export type Sort = string;

/** Value to sort by. `null` and `undefined` come last in both directions. */
export type SortValue = string | number | null | undefined;

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Sorts rows by the value of a column. The sort is stable. */
export function sortRows<Row>(rows: readonly Row[], sort: Sort, read: (row: Row) => SortValue): Row[] {
  const direction = descending(sort) ? -1 : 1;
  const keyed = rows.map((row) => [read(row), row] as const);
  keyed.sort(([one], [other]) => compare(one, other, direction));
  return keyed.map(([, row]) => row);
}

export const sortKey = (sort: Sort) => (descending(sort) ? sort.slice(1) : sort);
export const descending = (sort: Sort) => sort.startsWith('-');

/** Returns the order after a click on a column head. Columns of numbers are first sorted in descending order. */
export function nextSort(sort: Sort, key: string, isNumber: boolean): Sort {
  if (sortKey(sort) === key) return descending(sort) ? key : `-${key}`;
  return isNumber ? `-${key}` : key;
}

function compare(one: SortValue, other: SortValue, direction: number): number {
  const absent = Number(one === null || one === undefined) - Number(other === null || other === undefined);
  if (absent !== 0) return absent;
  if (typeof one === 'number' && typeof other === 'number') return (one - other) * direction;
  return words.compare(String(one ?? ''), String(other ?? '')) * direction;
}
