import { expect, test } from 'vitest';
import { verdictKinds } from '../../src/contract/verdicts.ts';
import { SplitCache } from '../../src/reports/experiments/split-report.ts';
import { cleanupReport } from '../../src/reports/verdicts/cleanup-report.ts';
import { featuresReport } from '../../src/reports/verdicts/features-report.ts';
import { findingsReport } from '../../src/reports/verdicts/findings.ts';
import { verdictReport } from '../../src/reports/verdicts/verdict-report.ts';
import { Verdicts } from '../../src/reports/verdicts/verdicts.ts';
import { UserUnions } from '../../src/storage/aggregate/unique-users.ts';
import { putSpans, type Sender, slotMs } from '../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { openRegistry, type Registry } from '../management/registry.ts';
import { finish } from '../support/finish.ts';

const dayMs = 86_400_000;
const web: Sender = { name: 'web', version: '2', transport: 'http', route: 'usage' };

const findNumber = ({ directory, application }: Registry, name: string) =>
  directory.applications.get(application.id)!.environments.find((each) => each.name === name)!.number;

/** Adds a sender to an environment, or to a feature in it. */
function report(registry: Registry, environment: string, ordinal = environmentOrdinal, sender = web): void {
  const slot = Math.floor(registry.clock.now() / slotMs);
  const number = findNumber(registry, environment);
  putSpans(registry.usage, [{ environment: number, ordinal, sender, first: slot, last: slot }]);
}

/**
 * Creates an application with several verdicts: `old` and `imported` are silent, `two` is in use, and `next` was only
 * declared.
 */
async function openShop(): Promise<Registry> {
  const registry = await openRegistry();
  const { ask, see, clock } = registry;
  await ask('POST', '/features', { name: 'next' });
  see({ f: { old: { on: [1] } } });
  report(registry, 'Production', 0);
  see({ f: { imported: { on: [1] } } }, 'Staging');
  clock.advance(10 * dayMs);
  see({ f: { two: { on: [1], off: [1] } } });
  clock.advance(29 * dayMs);
  see({ f: { two: { on: [1], off: [1] } } });
  report(registry, 'Production');
  report(registry, 'Staging');
  return registry;
}

test('the list of features has the verdict of each feature, and the facts that explain the verdict', async () => {
  const { ask } = await openShop();
  const { items } = (await ask('GET', '/features')).json;
  const shown = items.map((each: Record<string, unknown>) => [
    each['name'],
    each['verdict'],
    each['verdictBasis'],
    each['stale'],
  ]);
  expect(shown).toEqual([
    ['imported', 'not_seen', 'silence', true],
    ['next', 'not_seen', 'silence', true],
    ['old', 'safe_to_remove', 'senders', true],
    ['two', 'in_use', 'use', false],
  ]);
});

test.each([
  ['?verdict=safe_to_remove', ['old']],
  ['?verdict=not_seen', ['imported', 'next']],
  ['?verdict=in_use', ['two']],
  ['?verdict=new', []],
  ['?verdict=not_seen&declared=true', ['next']],
  ['?verdict=not_seen&environment=Production', ['next']],
  ['?verdict=safe_to_remove&environment=Production', ['old']],
  ['?verdict=safe_to_remove&environment=Staging', []],
  ['?environment=Staging', ['imported', 'next']],
])('the list of features with the query %j contains %j', async (query, expected) => {
  const { names } = await openShop();
  expect(await names(`/features${query}`)).toEqual(expected);
});

test('the list of features rejects an unknown verdict, and names the known verdicts', async () => {
  const { ask } = await openRegistry();
  const { status, json } = await ask('GET', '/features?verdict=safe');
  expect([status, json.code]).toEqual([400, 'invalid_query']);
  for (const kind of verdictKinds) expect(json.detail).toContain(kind);
  expect((await ask('GET', '/features?environment=Test')).status).toBe(404);
});

test('the list of features has columns for the verdict in CSV and NDJSON', async () => {
  const { ask } = await openShop();
  const { text } = await ask('GET', '/features?format=csv&verdict=safe_to_remove');
  const [head = '', row = '', ...rest] = text.trim().split('\r\n');
  expect(rest).toEqual([]);
  expect(head.split(',').slice(-3)).toEqual(['verdict', 'verdictBasis', 'verdictSince']);
  expect(row.split(',').slice(-3, -1)).toEqual(['safe_to_remove', 'senders']);
  const lines = (await ask('GET', '/features?format=ndjson')).text.trim().split('\n');
  expect(lines.map((line: string) => JSON.parse(line).verdict)).toEqual([
    'not_seen',
    'not_seen',
    'safe_to_remove',
    'in_use',
  ]);
});

test('the list of features, the overview, the flag page, the clean-up and the findings agree on verdicts', async () => {
  const registry = await openShop();
  const { directory, application, usage, clock, ask } = registry;
  await ask('PATCH', '/features/two', { archived: true });
  clock.advance(60_000);
  registry.see({ f: { two: { on: [1] } } });
  const { environments } = directory.applications.get(application.id)!;
  for (const days of [0, 1, 25, 35, 60]) {
    clock.advance(days * dayMs);
    const declared = [...directory.getFeatures(application.id).values()];
    const task = { environments, declared, now: clock.now(), staleAfterMs: 30 * dayMs };
    const only = { archived: undefined, declared: undefined, stale: undefined, verdict: undefined };
    const all = { only: { ...only, owned: undefined }, owned: new Map() };
    const page = { limit: 200, after: undefined };
    const list = finish(featuresReport(usage, { ...task, ...all, page })).items;
    const verdicts = new Verdicts(usage);
    const { judgements } = finish(verdicts.of(task));
    for (const { name, verdict } of list) {
      expect([name, verdict]).toEqual([name, judgements.get(name)?.kind]);
      expect(finish(verdictReport(usage, { ...task, feature: name }))).toMatchObject({ kind: verdict });
    }
    const splits = new SplitCache(usage, new UserUnions(usage));
    const findings = finish(findingsReport(usage, { verdicts, splits }, { ...task, application: application.number }));
    const { found, total, removable } = finish(cleanupReport(usage, verdicts, task));
    expect(found).toEqual(findings.all.found);
    expect([total, removable.length]).toEqual([found.flags_can_go.count, found.flags_can_go.count]);
  }
});
