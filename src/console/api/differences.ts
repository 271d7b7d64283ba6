import { capitalize, fieldWords } from '../../contract/field-words.ts';

interface Difference {
  readonly field: string;
  readonly before: unknown;
  readonly theirs: unknown;
  /** The reader's value; `undefined` if the reader does not change the field. */
  readonly mine: unknown;
}

const ignored = new Set(['updatedAt']);

export function listDifferences(
  before: object,
  theirs: object,
  mine: Readonly<Record<string, unknown>>,
): readonly Difference[] {
  return Object.entries(before)
    .map(([field, value]) => ({
      field,
      before: value,
      theirs: (theirs as Record<string, unknown>)[field],
      mine: mine[field],
    }))
    .filter(({ field }) => !ignored.has(field))
    .filter((each) => !same(each.before, each.theirs) || (each.mine !== undefined && !same(each.mine, each.theirs)));
}

/** True if the reader changes a field that someone else has already changed to another value. */
export function isOvertaken(before: object, theirs: object, mine: Readonly<Record<string, unknown>>): boolean {
  return listDifferences(before, theirs, mine).some(
    (each) => each.mine !== undefined && !same(each.before, each.theirs) && !same(each.mine, each.theirs),
  );
}

export function valueText(value: unknown): string {
  if (value === undefined) return '–';
  if (value === null) return 'default';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (!Array.isArray(value)) return itemText(value);
  return value.length === 0 ? 'none' : value.map(itemText).join(', ');
}

/** Returns the label of a field: "Allowed origins" for `allowedOrigins`. */
export function fieldText(field: string): string {
  return capitalize(fieldWords(field));
}

function itemText(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item);
  if ('name' in item) return String(item.name);
  return Object.entries(item)
    .map(([key, value]) => `${key} ${itemText(value)}`)
    .join(' ');
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
