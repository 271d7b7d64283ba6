import { sentEvents, type WebhookEventData } from '../../src/contract/webhook-events.ts';

export const at = '2026-01-31T12:00:00.000Z';

/** Example data of each event, with `name` as the text from other sources, and with long lists. */
export function dataWith(name: string): WebhookEventData {
  const examples = Object.entries(sentEvents).map(([type, { example }]) => [type, withTexts(example, name)]);
  return Object.fromEntries(examples);
}

/** Fields with texts from other sources. */
const fromOthers = new Set(['name', 'environment', 'environments', 'feature', 'variant', 'names']);
const lengths: Readonly<Record<string, number>> = { environments: 50, owners: 8 };

function withTexts(value: unknown, name: string, field = ''): unknown {
  if (Array.isArray(value)) return Array.from({ length: lengths[field] ?? 10 }, () => withTexts(value[0], name, field));
  if (field === 'variant' || (fromOthers.has(field) && typeof value === 'string')) return name;
  if (field === 'email') return `${name}@example.com`;
  if (field === 'text') return `${name} used to check it, and still reports.`;
  if (typeof value === 'number') return value || 3;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each, name, key)]));
  if (typeof value !== 'string') return value;
  if (field === 'verdict' && value.includes(' ')) return name;
  return /^\d{4}-/.test(value) ? at : value.replace('…', '1');
}
