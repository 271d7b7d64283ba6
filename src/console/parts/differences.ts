/** One field of a thing that two have changed. */
export interface Difference {
  readonly field: string;
  readonly before: unknown;
  readonly theirs: unknown;
  /** `undefined` when this page does not change the field. */
  readonly mine: unknown;
}

/** Fields that every change changes. */
const passing = new Set(['updatedAt']);

/** The fields that were changed since they were read, and those that are to be changed. */
export function differencesOf(
  before: object,
  theirs: object,
  mine: Readonly<Record<string, unknown>>,
): readonly Difference[] {
  const was = Object.entries(before);
  return was
    .map(([field, value]) => ({
      field,
      before: value,
      theirs: (theirs as Record<string, unknown>)[field],
      mine: mine[field],
    }))
    .filter(({ field }) => !passing.has(field))
    .filter(
      (each) => !same(each.before, each.theirs) || (each.mine !== undefined && !same(each.mine, each.theirs)),
    );
}

/** A value in words. */
export function valueText(value: unknown): string {
  if (value === undefined) return '–';
  if (value === null) return 'default';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? 'none' : value.map(itemText).join(', ');
}

/** The name of a field, for people: `allowedOrigins` is "Allowed origins". */
export function fieldText(field: string): string {
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function itemText(item: unknown): string {
  return typeof item === 'object' && item !== null && 'name' in item ? String(item.name) : String(item);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
