import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reasonCodes } from '../../src/contract/verdicts.ts';
import { judge, listActions, reporting, type VerdictFacts } from '../../src/reports/verdicts/verdict.ts';
import { explainJudgement } from '../../src/reports/verdicts/verdict-reasons.ts';
import {
  ago,
  api,
  createFacts,
  createSight,
  dayMs,
  now,
  onlyOn,
  place,
  sender,
  silent,
  used,
} from '../management/support/verdict-facts.ts';

describe('explainJudgement', () => {
  const figures = {
    days: 30,
    checks: new Map([
      ['on', 1_234_567],
      ['off', 0],
    ]),
  };
  const listTexts = (facts: VerdictFacts, given = figures) =>
    explainJudgement(facts, judge(facts), given).map(({ text, at }) => (at === null ? text : text.replace(at, '<at>')));

  test.each<[string, VerdictFacts, string[]]>([
    [
      'a feature with one variant',
      createFacts(
        [
          place('P', { sight: onlyOn, askers: [sender('api', 1), sender('web', 0), sender('old', 50)] }),
          place('S', { sight: onlyOn }),
        ],
        {
          split: [
            ['on', 1],
            ['off', 1],
          ],
        },
      ),
      [
        'Only the variant on has been served since <at>, in all 2 environments.',
        '1.2M checks in the last 30 days, in all 2 environments: all of them on.',
        'web 1.0 and api 1.0 still check it.',
        'The team has declared a split between on and off.',
      ],
    ],
    [
      'a silent feature',
      createFacts([place('P', { sight: silent, reporters: ['a', 'b', 'c', 'd', 'e'].map((name) => sender(name, 0)) })]),
      [
        'No packet and no report has named it since <at>.',
        'During that time, 5 senders of this application kept reporting in P: a 1.0, b 1.0, c 1.0 and 2 more.',
        'The senders that checked it in P are not known. Its silence is the only basis.',
      ],
    ],
    [
      'a silent feature whose senders have changed',
      createFacts([
        place('P', { sight: silent, reporters: [api], askers: [{ ...sender('api', 40), version: '0.9' }] }),
      ]),
      [
        'No packet and no report has named it since <at>.',
        'api 0.9 used to check it, and still reports.',
        'During that time, 1 sender of this application kept reporting in P: api 1.0.',
      ],
    ],
    [
      'a feature that has been silent for long',
      createFacts([place('P', { sight: createSight([300, 91]), reporters: [api] })]),
      [
        'No packet and no report has named it since <at>.',
        'No sender has checked it for 90 days.',
        'During that time, 1 sender of this application kept reporting in P: api 1.0.',
      ],
    ],
    [
      'a feature that was only declared',
      createFacts([place('P', { reporters: [api] })]),
      [
        'No packet and no report has named it since <at>.',
        'During that time, 1 sender of this application kept reporting in P: api 1.0.',
        'It was declared, and never seen. Its silence is the only basis.',
      ],
    ],
    [
      'a silent feature without known senders',
      createFacts([
        place('P', { sight: silent, reporters: [sender('api', 35)] }),
        place('S', { sight: silent, reporters: [api], askers: [sender('batch', 40)] }),
        place('D', { sight: silent }),
      ]),
      [
        'Nothing has reported in P since <at>.',
        'batch 1.0 checked it in S, last at <at>, and no longer reports.',
        'Nothing is known to have reported in D.',
        'It was last seen at <at>.',
        'Its silence does not prove that it is no longer used.',
      ],
    ],
    [
      'an archived feature that is still checked',
      createFacts([place('P', { sight: used, askers: [api] }), place('S')], { archived: true, archivedAt: ago(2) }),
      [
        'Archived at <at>.',
        'It was still checked at <at>, in P.',
        '1.2M checks in the last 30 days: all of them on.',
        'api 1.0 still checks it.',
      ],
    ],
    [
      'a snoozed feature',
      createFacts([place('P', { sight: silent, reporters: [api] })], { snoozedUntil: now + dayMs, permanent: true }),
      [
        'The team keeps it until <at>.',
        'No packet and no report has named it since <at>.',
        'During that time, 1 sender of this application kept reporting in P: api 1.0.',
        'The senders that checked it in P are not known. Its silence is the only basis.',
      ],
    ],
    [
      'a new feature',
      createFacts([place('P')], { createdAt: ago(1) }),
      ['It is new: declared at <at>, and not seen yet.'],
    ],
  ])('explainJudgement explains the verdict on %s', (_, facts, expected) => {
    expect(listTexts(facts)).toEqual(expected);
  });

  test('explainJudgement lists the shares of the variants, or omits them if there are no counts', () => {
    const facts = createFacts([place('P', { sight: used })]);
    const checks = new Map([
      ['on', 2],
      ['off', 1],
    ]);
    expect(listTexts(facts, { days: 30, checks })[1]).toBe('3 checks in the last 30 days: on 67% and off 33%.');
    expect(listTexts(facts, { days: 30, checks: new Map() })).toEqual([
      'Still in use: last seen at <at>.',
      '2 variants were served within 30 days: off and on.',
    ]);
  });
});

describe('judge for random facts', () => {
  const days = fc.option(fc.integer({ min: 0, max: 200 }), { nil: null });
  const senders = fc.array(
    fc.tuple(fc.constantFrom('api', 'web'), fc.integer({ min: 0, max: 89 }), fc.constantFrom('usage', 'telemetry')),
    { maxLength: 3 },
  );
  const sight = fc
    .tuple(days, days, fc.dictionary(fc.constantFrom('on', 'off'), fc.tuple(days, days)))
    .map(([one, other, variants]) => createSight([one, other], variants));
  const environment = fc.record({ sight: fc.option(sight, { nil: undefined }), reporters: senders, askers: senders });
  const said = fc.record({
    archived: fc.boolean(),
    archivedAt: days.map((each) => (each === null ? null : ago(each))),
    permanent: fc.boolean(),
    snoozedUntil: fc.option(fc.constantFrom(now - 1, now + 1), { nil: null }),
    createdAt: fc.integer({ min: 0, max: 300 }).map(ago),
  });
  const all = fc.tuple(fc.array(environment, { minLength: 1, maxLength: 3 }), said).map(([environments, declaration]) =>
    createFacts(
      environments.map(({ sight, reporters, askers }, at) =>
        place(`E${at}`, {
          sight,
          reporters: reporters.map((each) => sender(...each)),
          askers: askers.map((each) => sender(...each)),
        }),
      ),
      declaration,
    ),
  );

  test('judge finds a feature silent only if each environment that has seen the feature still reports', () => {
    fc.assert(
      fc.property(all, (facts) => {
        const judged = judge(facts);
        for (const { kind, environments } of [judged, judged.otherwise ?? judged]) {
          if (kind !== 'not_seen' && kind !== 'safe_to_remove') continue;
          expect(environments.length).toBeGreaterThan(0);
          const seen = facts.environments.filter((each) => each.sight !== undefined);
          const live = facts.environments.filter((each) => reporting(facts, each.reporters).length > 0);
          for (const each of seen) expect(live).toContain(each);
          for (const name of environments) expect(live.map((each) => each.name)).toContain(name);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('judge returns safe_to_remove only if each sender that checked the feature still reports', () => {
    fc.assert(
      fc.property(all, (facts) => {
        const judged = judge(facts);
        for (const { kind } of [judged, judged.otherwise ?? judged]) {
          if (kind !== 'safe_to_remove') continue;
          const seen = facts.environments.filter((each) => each.sight !== undefined);
          expect(seen.length).toBeGreaterThan(0);
          for (const each of seen) {
            const last = each.sight!.lastSeenAt!;
            expect(now - last).toBeGreaterThan(facts.quietMs);
            const names = reporting(facts, each.reporters).map(({ route, name }) =>
              route === 'telemetry' ? '' : name,
            );
            for (const { route, name } of each.askers) expect(names).toContain(route === 'telemetry' ? '' : name);
            if (now - last <= 90 * dayMs) expect(each.askers.length).toBeGreaterThan(0);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('judge returns the same verdict for any order of the environments', () => {
    fc.assert(
      fc.property(all, (facts) => {
        const reversed = { ...facts, environments: facts.environments.toReversed() };
        expect(judge(reversed).kind).toBe(judge(facts).kind);
        expect(judge(reversed).since).toBe(judge(facts).since);
      }),
    );
  });

  test('every reason is a sentence with its time, and a feature with cannot_tell gets no suggestion to archive it', () => {
    fc.assert(
      fc.property(all, (facts) => {
        const judged = judge(facts);
        const reasons = explainJudgement(facts, judged, { days: 30, checks: new Map() });
        expect(reasons.length).toBeGreaterThan(0);
        for (const { text, at, code } of reasons) {
          expect(Object.keys(reasonCodes)).toContain(code);
          expect(text).toMatch(/^[^a-z].*\.$|^(api|web) /);
          if (at !== null) expect(text).toContain(at);
        }
        const actions = listActions(judged.kind, facts);
        expect(new Set(actions).size).toBe(actions.length);
        if (judged.kind === 'cannot_tell') expect(actions).not.toContain('archive');
      }),
    );
  });
});
