import { expect } from 'vitest';

/**
 * Returns the members of a fixture's response that stay the same. Later versions can add or reword limits, and requests
 * change the last use of an API key.
 */
export function lasting(path: string, answer: object): object {
  if (path.endsWith('/api-keys')) return withoutUses(answer as { items: readonly object[] });
  if (!path.endsWith('/limits')) return answer;
  const entries = Object.entries(answer).map(([name, value]) => [
    name,
    Array.isArray(value) ? expect.arrayContaining(value.map(withoutWords)) : value,
  ]);
  return Object.fromEntries(entries);
}

function withoutWords({ words: _, ...rest }: { readonly words?: string }): object {
  return expect.objectContaining(rest);
}

function withoutUses({ items, ...rest }: { readonly items: readonly { readonly lastUsedAt?: unknown }[] }): object {
  return { ...rest, items: items.map(({ lastUsedAt: _, ...item }) => item) };
}
