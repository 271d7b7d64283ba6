import type { ChangedField } from '../contract/shapes/activity.ts';

/** Fields that every change sets, those that another one implies, and those that have entries of their own. */
const implied: ReadonlySet<string> = new Set(['updatedAt', 'archivedAt', 'splitAt', 'experiments']);

/** Maximum length of a value, and number of values. */
const longest = 300;
const most = 20;

/**
 * The differences between two versions of the settings of an application, feature or metric, for the audit log. Never call it with
 * a record that has a secret.
 */
export function changesBetween(before: object, after: object): { readonly changes: readonly ChangedField[] } {
  const old = new Map<string, unknown>(Object.entries(before));
  const changes = Object.entries(after).flatMap(([field, value]): ChangedField[] => {
    if (implied.has(field)) return [];
    const from = textOf(field, old.get(field));
    const to = textOf(field, value);
    return from === to ? [] : [{ field, from, to }];
  });
  return { changes: changes.slice(0, most) };
}

function textOf(field: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = Array.isArray(value) ? value.map(itemText).join(', ') : plainText(field, value);
  if (text === '') return null;
  return text.length <= longest
    ? text
    : `${Array.from(text)
        .slice(0, longest - 1)
        .join('')}…`;
}

function plainText(field: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && /(At|Until)$/.test(field)) return new Date(value).toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** An item of a list that is an object: an owner, or a step of a rollout. */
interface Item {
  readonly name?: string;
  readonly id?: string;
  readonly at?: number;
  readonly split?: readonly unknown[];
}

/** An item of a list, such as an origin, or a variant with its weight. */
function itemText(item: unknown): string {
  if (Array.isArray(item)) return item.map(String).join(' ');
  if (typeof item !== 'object' || item === null) return String(item);
  const { name, id, at, split } = item as Item;
  if (at !== undefined && split !== undefined)
    return `${new Date(at).toISOString()} ${split.map(itemText).join(' ')}`;
  return name ?? id ?? JSON.stringify(item);
}
