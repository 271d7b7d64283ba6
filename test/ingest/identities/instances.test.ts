import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { opened } from '../../support/opened.ts';
import { attachPeople, openPeople, type People } from '../../support/people.ts';

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;

const running = opened(openPeople);

/** An application of its own in the running service. */
const attach = () => attachPeople(running.service, running.clock);

/** Whether packets with this id are attributed to `identity`, tested with a separate feature. */
async function isValid(people: People, identity: string, i: string): Promise<boolean> {
  const feature = `try-${people.clock.now()}-${i.slice(-6)}`;
  expect(await people.check(feature, { i })).toBe(202);
  return (await people.exposures(identity)).some((exposure) => exposure.feature === feature);
}

describe('an instance id', () => {
  test('is valid in every environment of its application, and in no other application', async () => {
    const people = await attach();
    const i = await people.mint('ann');
    for (const environment of ['Production', 'Staging']) await people.check('checkout', { i }, environment);
    const only = [{ feature: 'checkout', variant: 'on', checks: 1, used: 0, viewed: 0 }];
    expect(await people.exposures('ann')).toMatchObject(only);
    expect(await people.exposures('ann', 'Staging')).toMatchObject(only);
    expect(await people.exposures('ann', 'Development')).toEqual([]);

    const other = await attach();
    expect(await other.check('checkout', { i })).toBe(202);
    expect(await other.exposures('ann')).toEqual([]);
    expect(await people.exposures('ann')).toMatchObject(only);
  });

  test('expires if unused for its lifetime, and stays valid if used, even across a restart', async () => {
    let people = await openPeople({ args: ['--instance-ttl', String(30 * 24 * 3600)] });
    const [used, unused] = [await people.mint('ann'), await people.mint('bob')];
    for (let week = 0; week < 5; week++) {
      people.clock.advance(7 * day);
      expect(await isValid(people, 'ann', used)).toBe(true);
      if (week === 2) people = await people.restart();
    }
    expect(await isValid(people, 'bob', unused)).toBe(false);
    people.clock.advance(30 * day - 1);
    expect(await isValid(people, 'ann', used)).toBe(true);
    people = await people.restart();
    people.clock.advance(30 * day);
    expect(await isValid(people, 'ann', used)).toBe(false);
    await people.service.stop();
  });

  test('that is cached still expires in time', async () => {
    const people = await openPeople({ args: ['--instance-ttl', '100'] });
    const i = await people.mint('ann');
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(9 * second); // Less than a tenth, so its use is not written.
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(91 * second - 1);
    expect(await isValid(people, 'ann', i)).toBe(true);
    people.clock.advance(100 * second);
    expect(await isValid(people, 'ann', i)).toBe(false);
    await people.service.stop();
  });

  test('stays valid for the grace period after another is minted, and use does not prolong it', async () => {
    let people = await openPeople({ args: ['--rotation-grace', '3600'] });
    const first = await people.mint('ann');
    expect(await isValid(people, 'ann', first)).toBe(true);
    const second = await people.mint('ann');
    people.clock.advance(hour - 1);
    expect(await isValid(people, 'ann', first)).toBe(true);
    people = await people.restart();
    expect(await isValid(people, 'ann', first)).toBe(true);
    people.clock.advance(1);
    expect(await isValid(people, 'ann', first)).toBe(false);
    expect(await isValid(people, 'ann', second)).toBe(true);
    await people.service.stop();
  });

  test('is revoked when two others are minted, even if it is in use', async () => {
    const people = await attach();
    const first = await people.mint('ann');
    expect(await isValid(people, 'ann', first)).toBe(true);
    const second = await people.mint('ann');
    people.clock.advance(1);
    expect(await isValid(people, 'ann', first)).toBe(true);
    const third = await people.mint('ann');
    people.clock.advance(1);
    expect(await Promise.all([first, second, third].map((id) => isValid(people, 'ann', id)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('is revoked at once without a grace period', async () => {
    const people = await openPeople({ args: ['--rotation-grace', '0'] });
    const first = await people.mint('ann');
    const second = await people.mint('ann');
    expect([await isValid(people, 'ann', first), await isValid(people, 'ann', second)]).toEqual([
      false,
      true,
    ]);
    await people.service.stop();
  });

  test('is one of two valid ones after many concurrent mints for one identity', async () => {
    const people = await attach();
    const ids = await Promise.all(Array.from({ length: 20 }, () => people.mint('ann')));
    const valid = await Promise.all(ids.map((id) => isValid(people, 'ann', id)));
    expect(new Set(ids).size).toBe(20);
    expect(valid.filter(Boolean)).toHaveLength(2);
  });

  test('is stored only as a hash and never logged', async () => {
    const people = await openPeople();
    const i = await people.mint('ann-of-the-log');
    await people.check('checkout', { i });
    await people.service.stop();
    const files = readdirSync(people.service.data, {
      recursive: true,
      encoding: 'utf8',
      withFileTypes: true,
    });
    const bytes = files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name)));
    expect(bytes.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(10_000);
    for (const content of bytes) {
      expect(content.includes(i)).toBe(false);
      expect(content.includes(i.slice(-40))).toBe(false);
      expect(content.includes(Buffer.from(i.slice(-40), 'hex'))).toBe(false);
    }
    expect(people.service.log()).not.toContain(i);
    expect(people.service.log()).not.toContain('ann-of-the-log');
  });
});
