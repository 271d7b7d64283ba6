import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CleanupItem } from '../../src/contract/shapes/cleanup.ts';
import { createJointPullRequest, createPullRequest } from '../../src/management/cleanup.ts';
import { dayMs } from './fixture.ts';
import { openRegistry } from './registry.ts';

const item = (more: Partial<CleanupItem> = {}): CleanupItem => ({
  feature: 'old-banner',
  verdict: 'safe_to_remove',
  since: '2026-10-14T09:00:00.000Z',
  variant: null,
  next: 'remove',
  nextText: 'Remove the flag from the code, then archive the flag.',
  environments: ['Production'],
  declared: true,
  owners: [],
  ownersFrom: null,
  tags: [],
  reasons: [
    { code: 'senders_report', at: null, names: ['web 2.3'], text: 'web 2.3 used to check it, and still reports.' },
  ],
  code: [],
  pullRequest: { title: '', body: '' },
  ...more,
});

test('the cleanup list has removable features with evidence, and other features with reasons to keep them', async () => {
  const { ask, see, clock } = await openRegistry();
  for (const name of ['forever', 'done', 'later', 'planned']) await ask('POST', '/features', { name });
  await ask('PATCH', '/features/planned', { owners: [{ type: 'text', name: 'QA' }], tags: ['ui'] });
  see({ f: { forever: { on: [5] }, done: { on: [1] }, later: { a: [1] } } });
  clock.advance(50 * dayMs);
  see({ f: { forever: { on: [5] }, done: { on: [1] }, later: { a: [1] } } });
  await ask('PATCH', '/features/done', { archived: true });
  await ask('PATCH', '/features/later', { snoozedUntil: new Date(clock.now() + dayMs).toISOString() });
  const { json } = await ask('GET', '/cleanup');
  expect(json.items.map(({ feature }: CleanupItem) => feature)).toEqual(['forever']);
  expect(json).toMatchObject({
    total: 1,
    items: [
      {
        verdict: 'one_variant',
        variant: 'on',
        next: 'keep_variant',
        declared: true,
        reasons: [{ code: 'only_variant', names: ['on'] }, { code: 'checks' }],
        pullRequest: { title: 'Remove the flag forever, keep on' },
      },
    ],
    pullRequest: { title: 'Remove the flag forever, keep on' },
  });
  expect(json.blocked).toMatchObject([
    { feature: 'planned', owners: [{ name: 'QA' }] },
    { feature: 'later', verdict: 'snoozed', why: { code: 'snoozed' } },
  ]);
  expect((await ask('GET', '/cleanup?feature=planned')).json).toMatchObject({ total: 0, pullRequest: null });
  const csv = await ask('GET', '/cleanup?format=csv');
  expect(csv.text.split('\r\n')[1]).toContain('forever');
});

test('the history of removable features includes a feature after 30 days with one variant, until the feature is archived', async () => {
  const { ask, see, clock } = await openRegistry();
  for (const name of ['forever', 'done']) await ask('POST', '/features', { name });
  const both = { forever: { on: [5] }, done: { on: [1] } };
  see({ f: both });
  clock.advance(35 * dayMs);
  see({ f: both });
  const history = async () => (await ask('GET', '/cleanup')).json.history.slice(-7);
  expect(await history()).toEqual([0, 2, 2, 2, 2, 2, 2]);
  await ask('PATCH', '/features/done', { archived: true });
  clock.advance(2 * dayMs);
  expect(await history()).toEqual([2, 2, 2, 2, 1, 1, 1]);
});

test('an undeclared name with one variant is not removable, because it might be misspelt', async () => {
  const { ask, see, clock } = await openRegistry();
  see({ f: { chekcout: { on: [1] } } });
  await ask('POST', '/features', { name: 'checkout' });
  clock.advance(50 * dayMs);
  see({ f: { chekcout: { on: [1] } } });
  const { json } = await ask('GET', '/cleanup');
  expect(json.items).toEqual([]);
  expect(json.blocked).toContainEqual(
    expect.objectContaining({
      feature: 'chekcout',
      why: expect.objectContaining({ code: 'undeclared', names: ['checkout'] }),
    }),
  );
});

test('the suggested next step is to archive a feature that is no longer in the code', async () => {
  const { ask, see, clock } = await openRegistry();
  see({ f: { legacy: { on: [1] } } });
  await ask('POST', '/features', { name: 'legacy' });
  clock.advance(50 * dayMs);
  see({ f: { legacy: { on: [1] } } });
  const scan = (...features: object[]) => ask('PUT', '/code-scans/web', { files: 3, features });
  const next = async () => (await ask('GET', '/cleanup')).json.items.map(({ next }: CleanupItem) => next);
  // The feature is still checked, so it might be used in a repository that is not scanned.
  await scan();
  expect(await next()).toEqual(['keep_variant']);
  await scan({ name: 'legacy', count: 1, references: [] });
  expect(await next()).toEqual(['keep_variant']);
  await scan();
  expect(await next()).toEqual(['archive']);
});

test('the text of a pull request contains evidence, code places with owners, and the branch to keep', () => {
  const code = {
    repository: 'shop/web',
    revision: '9fceb02',
    scannedAt: '2026-11-12T09:00:00.000Z',
    count: 2,
    missingSince: null,
    references: [{ path: 'src/(a).ts', line: 3, owners: ['@shop/web'], url: 'https://x.example/(a)#L3' }],
  };
  const owners = [{ type: 'text', id: null, name: '@shop/web' } as const];
  const { title, body } = createPullRequest(item({ variant: 'on', owners, code: [code] }));
  expect(title).toBe('Remove the flag old-banner, keep on');
  expect(body).toBe(`Removes the flag \`old-banner\`. Keep the branch \`on\`, which everyone gets.

**Evidence**

- \`web 2.3\` used to check it, and still reports.

**Code**

- [\`src/(a).ts:3\`](https://x.example/%28a%29#L3) (\`@shop/web\`)
- 1 more in \`shop/web\`
- Scan: \`shop/web\` at \`9fceb02\`, scanned 12 Nov 2026

**Owners**

- \`@shop/web\`

**Next step**

- Remove the flag from the code, then archive the flag.
`);
});

test('the joint pull request of several flags has a list of the flags, and a section for each flag', () => {
  const text = createJointPullRequest([item(), item({ feature: 'b' })]);
  expect(text?.title).toBe('Remove 2 flags');
  expect(text?.body).toMatch(/^- \[ \] `old-banner`: Remove the flag/);
  expect(text?.body.match(/^## /gm)).toHaveLength(2);
  expect(createJointPullRequest([])).toBeNull();
});

test('names in the text of a pull request are escaped, so that they are not rendered as Markdown', () => {
  const nasty = fc.string({ unit: fc.constantFrom(...'a-/^$`@<>[](){}*_#!|\\~\n\u202e ') });
  fc.assert(
    fc.property(nasty, nasty, nasty, (feature, sender, owner) => {
      const reasons = [
        { code: 'still_checked', at: null, names: [sender], text: `${sender} still checks it.` } as const,
      ];
      const owners = [{ type: 'text', id: null, name: owner } as const];
      const { title, body } = createPullRequest(
        item({ feature, owners, reasons: reasons.map((each) => ({ ...each, names: [...each.names] })) }),
      );
      expect(title).not.toMatch(/[\n\u202e]/);
      // The text outside code spans contains neither unescaped markup nor mentions.
      const outside = body.replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
      expect(outside.replace(/\\./g, '').replace(/\*\*[A-Z][a-z ]+\*\*|@\u200b/g, '')).not.toMatch(/[@<>[\]*_|~]/);
    }),
  );
});
