import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBuckets } from '../../src/console/components/chart/series.ts';
import { assignTones, createSeries, splitVariants, typedSplit } from '../../src/console/pages/feature/traffic.ts';
import {
  chooseTone,
  cleanupText,
  formatHeading,
  listActions,
  reasonText,
  type TextFormat,
} from '../../src/console/pages/feature/verdict-words.ts';
import type { FeatureUsage } from '../../src/contract/shapes/reports.ts';
import type { Verdict } from '../../src/contract/shapes/verdict.ts';
import { type VerdictKind, verdictKinds, verdictRules } from '../../src/contract/verdicts.ts';

const words: TextFormat = { time: (at) => `<${at.slice(0, 10)}>`, list: (items) => items.join(' and ') };
const since = '2026-05-03T10:00:00.000Z';

const createVerdict = (kind: VerdictKind, more: Partial<Verdict> = {}) => ({
  kind,
  since,
  environments: ['Production'],
  declared: true,
  nearest: null,
  staleAfterDays: 30,
  reasons: [],
  ...more,
});
const notArchived = { archived: false, archivedAt: null, snoozedUntil: '2026-06-01T00:00:00.000Z' };

describe('the heading of a verdict', () => {
  it.each([
    ['one_variant', 'Remove: one variant only since <2026-05-03>, in Production'],
    ['safe_to_remove', 'Remove: no sign of use since <2026-05-03>'],
    ['not_seen', 'Keep: senders unknown, no sign of use since <2026-05-03>'],
    ['in_use', 'Keep: in use since <2026-05-03>, in Production'],
    ['snoozed', 'Keep until <2026-06-01>'],
    ['permanent', 'Keep for ever'],
    ['cannot_tell', 'Keep: silence proves nothing'],
  ] as const)('the heading of the verdict %s is a sentence', (kind, heading) => {
    expect(formatHeading(createVerdict(kind), notArchived, words)).toEqual({ heading });
  });

  it('the heading of a flag in use has the number of variants within 30 days', () => {
    const reasons = [{ code: 'variants', text: '', at: null, names: ['off', 'on'] } as const];
    const used = createVerdict('in_use', { reasons: reasons.map((each) => ({ ...each, names: [...each.names] })) });
    expect(formatHeading(used, notArchived, words).heading).toBe(
      'Keep: in use since <2026-05-03>, 2 variants within 30 days, in Production',
    );
  });

  it('the heading of an undeclared flag names the similar declared flag, and not a verdict that keeps the flag', () => {
    const misspelt = createVerdict('in_use', { declared: false, nearest: 'checkout' });
    expect(formatHeading(misspelt, notArchived, words)).toEqual({
      heading: 'Fix: unknown flag – did you mean checkout?',
    });
    expect(chooseTone('in_use', { declared: false, archived: false })).toBe('warn');
  });

  it('the heading of an archived flag begins with "Archived", unless programs still check the flag', () => {
    const archived = { ...notArchived, archived: true, archivedAt: since };
    expect(formatHeading(createVerdict('safe_to_remove'), archived, words)).toEqual({
      heading: 'Archived since <2026-05-03>',
      also: 'Remove: no sign of use since <2026-05-03>',
    });
    expect(chooseTone('safe_to_remove', { declared: true, archived: true })).toBe('quiet');
    expect(formatHeading(createVerdict('archived_but_asked'), archived, words).heading).toMatch(/^Fix: archived, but/);
    expect(chooseTone('archived_but_asked', { declared: true, archived: true })).toBe('bad');
  });

  it.each(verdictKinds)('the verdict %s has a heading and a tone, with and without a time', (kind) => {
    const bare = createVerdict(kind, { since: null, environments: [] });
    const never = { archived: false, archivedAt: null, snoozedUntil: null };
    const { heading } = formatHeading(bare, never, words);
    expect(heading).toMatch(/^[A-Z][a-z ,:]+$/);
    expect(heading.toLowerCase().startsWith(verdictRules[kind].advice)).toBe(true);
    expect(chooseTone(kind, { declared: true, archived: false })).toBeDefined();
    expect(chooseTone(kind, { declared: false, archived: false })).not.toBe('good');
  });

  it("the reasons of a verdict show times in the reader's locale", () => {
    expect(reasonText({ text: `Only on was given since ${since}.`, at: since }, words)).toBe(
      'Only on was given since <2026-05-03>.',
    );
    expect(reasonText({ text: '3 senders kept reporting.', at: null }, words)).toBe('3 senders kept reporting.');
  });

  it('the actions on a flag omit actions already done, and keeping until a date or for ever is one action', () => {
    const archived = listActions(['snooze', 'copy', 'permanent'], { archived: true, declared: true });
    expect(archived).toEqual(['keep', 'copy', 'unarchive']);
    const unknown = listActions(['copy', 'unarchive'], { archived: false, declared: false });
    expect(unknown).toEqual(['copy', 'archive', 'keep', 'declare']);
  });

  it('the clean-up text names the flag and its variants, and quotes the search command for a shell', () => {
    expect(cleanupText("it's-on", ['on', 'off'])).toBe(
      "Flag: it's-on\nVariants seen: off, on\nSearch: git grep -nF -e 'it'\\''s-on'\n",
    );
    expect(cleanupText('a', [])).toContain('Variants seen: none');
  });
});

const hour = 3_600_000;
const from = Date.UTC(2026, 4, 3);
const bounds = { from, to: from + 4 * hour, step: 'hour' } as const;
const at = (index: number) => from / 1000 + index * 3600;

function createUsage(
  variants: Readonly<Record<string, readonly (readonly [number, number, number, number])[]>>,
): FeatureUsage {
  const counts = { checks: 0, used: 0, viewed: 0, uniqueUsers: 0 };
  return {
    feature: 'checkout',
    ...counts,
    variants: Object.entries(variants).map(([variant, series]) => ({
      variant,
      ...counts,
      checks: series.reduce((sum, [, checks]) => sum + checks, 0),
      series: series.map((point) => [...point]),
    })),
  };
}

describe('the series of a flag', () => {
  it('each series of a flag contains a value for each bucket', () => {
    const usage = createUsage({ on: [[at(1), 5, 3, 2]], off: [[at(0), 1, 0, 0]] });
    expect(createBuckets(bounds)).toEqual({ start: at(0), width: 3600, count: 4 });
    expect(createSeries(usage, createBuckets(bounds), 'used')).toEqual([
      { label: 'off', values: [0, 0, 0, 0], tone: 1 },
      { label: 'on', values: [0, 3, 0, 0], tone: 2 },
    ]);
    expect(createSeries(undefined, createBuckets(bounds), 'checks')).toEqual([]);
  });

  it('createSeries adds counts before the first bucket to that bucket, and omits counts after the last bucket', () => {
    const usage = createUsage({
      on: [
        [at(-3), 7, 0, 0],
        [at(9), 1, 0, 0],
      ],
    });
    expect(createSeries(usage, createBuckets(bounds), 'checks')[0]!.values).toEqual([7, 0, 0, 0]);
  });

  it('the series of a flag include all counts, and the smallest variants share one series', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 20 }), (checks) => {
        const usage = createUsage(
          Object.fromEntries(checks.map((each, index) => [`v${index}`, [[at(index % 4), each, 0, 0] as const]])),
        );
        const series = createSeries(usage, createBuckets(bounds), 'checks');
        const total = series.flatMap(({ values }) => values).reduce((sum, value) => sum + value, 0);
        expect(total).toBe(checks.reduce((sum, each) => sum + each, 0));
        expect(series.length).toBeLessThanOrEqual(7);
        expect(new Set(series.map(({ tone }) => tone)).size).toBe(series.length);
        expect(series.filter(({ tone }) => tone === 'other')).toHaveLength(checks.length > 6 ? 1 : 0);
      }),
    );
  });

  it('the six variants with the most checks get tones in alphabetical order', () => {
    const usage = createUsage(
      Object.fromEntries([9, 1, 8, 7, 6, 5, 4].map((each, index) => [`v${index}`, [[at(0), each, 0, 0] as const]])),
    );
    expect([...assignTones(usage)]).toEqual([
      ['v0', 1],
      ['v2', 2],
      ['v3', 3],
      ['v4', 4],
      ['v5', 5],
      ['v6', 6],
    ]);
  });
});

describe('a split', () => {
  it('the form for a split lists the declared variants and the variants in received reports', () => {
    expect(splitVariants({ on: 1, gone: 1 }, ['on', 'off', 'off'])).toEqual(['gone', 'off', 'on']);
    expect(splitVariants(null, [])).toEqual([]);
  });

  it.each([
    [['1', '3'], { off: 1, on: 3 }],
    [['', ' 2.5 '], { on: 2.5 }],
    [['', ''], null],
    [['0', '-1'], { off: 0, on: -1 }],
  ])('the typed weights %j become the split %j', (weights, split) => {
    expect(typedSplit(['off', 'on'], weights)).toEqual(split);
  });
});
