import { describe, expect, it } from 'vitest';
import { SharedSights, type Sights } from '../../src/reports/shared-sightings.ts';
import type { Application } from '../../src/storage/lmdb/records.ts';

interface PendingReading {
  readonly features: readonly string[];
  readonly environments: readonly number[];
  /** Completes the reading with one sight of each feature. */
  succeed(): void;
  fail(): void;
}

function open() {
  const readings: PendingReading[] = [];
  const make = (_teamId: string, _name: string, task: Pick<PendingReading, 'features' | 'environments'>) =>
    new Promise<ReadonlyMap<string, Sights>>((resolve, reject) => {
      const sight = { ordinal: 1, firstSeenAt: readings.length, lastSeenAt: null, variants: new Map() };
      readings.push({
        ...task,
        succeed: () => resolve(new Map(task.features.map((feature) => [feature, new Map([[1, sight]])]))),
        fail: () => reject(new Error('refused')),
      });
    });
  return { readings, sights: new SharedSights({ make: make as never }) };
}

const application = (id: string, ...environments: number[]) =>
  ({ id, teamId: 't', environments: environments.map((number) => ({ number })) }) as unknown as Application;

const shop = application('shop', 1);
const settled = () => new Promise(setImmediate);
const getReading = (sights: Sights) => sights.get(1)?.firstSeenAt;

describe('SharedSights', () => {
  it('SharedSights reads once for all callers that wait while a reading is in progress', async () => {
    const { readings, sights } = open();
    const first = sights.of(shop, 'a');
    await settled();
    const more = [sights.of(shop, 'b'), sights.of(application('shop', 1, 2), 'c'), sights.of(shop, 'b')];
    await settled();
    expect(readings).toMatchObject([{ features: ['a'], environments: [1] }]);
    readings[0]!.succeed();
    expect(getReading(await first)).toBe(0);
    await settled();
    expect(readings).toHaveLength(2);
    expect(readings[1]).toMatchObject({ features: ['b', 'c'], environments: [1, 2] });
    readings[1]!.succeed();
    expect((await Promise.all(more)).map(getReading)).toEqual([1, 1, 1]);
  });

  it('SharedSights returns a reading that starts after the call', async () => {
    const { readings, sights } = open();
    void sights.of(shop, 'a');
    await settled();
    const later = sights.of(shop, 'a');
    readings[0]!.succeed();
    await settled();
    readings[1]!.succeed();
    expect(getReading(await later)).toBe(1);
  });

  it('SharedSights starts a reading without waiting for a reading of another application', async () => {
    const { readings, sights } = open();
    void sights.of(shop, 'a');
    void sights.of(application('app', 2), 'a');
    await settled();
    expect(readings).toHaveLength(2);
  });

  it('SharedSights starts a new reading after a failed reading', async () => {
    const { readings, sights } = open();
    const refused = expect(sights.of(shop, 'a')).rejects.toThrow('refused');
    await settled();
    const next = sights.of(shop, 'a');
    readings[0]!.fail();
    await refused;
    await settled();
    readings[1]!.succeed();
    expect(getReading(await next)).toBe(1);
  });
});
