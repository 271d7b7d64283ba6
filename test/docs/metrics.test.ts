import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Core } from '../../src/commands/core.ts';
import { figuresOf } from '../../src/commands/figures.ts';
import { RequestTally } from '../../src/http/request-tally.ts';

test('docs/metrics.md has one row for each figure', () => {
  const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = Array.from(
    text.matchAll(/^\| `([a-z_]+)` \| (\w+) \| ([^|]*)\|/gm),
    ([, name, type, labels = '']) => ({
      name,
      type,
      labels: Array.from(labels.matchAll(/\w+/g), ([label]) => label),
    }),
  );
  // Nothing of it is read: only what there is.
  const core = { counting: {}, intake: {}, readers: [], clock: { now: () => 0 } } as unknown as Core;
  const figures = figuresOf(core, new RequestTally());
  expect(rows).toEqual(figures.map(({ name, type, labels = [] }) => ({ name, type, labels: [...labels] })));
});
