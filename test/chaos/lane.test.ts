import { expect, it } from 'vitest';
import { Lane } from '../../chaos/scene/lane.ts';

it('Lane keeps the order of actions, even if their delay becomes shorter', async () => {
  const lane = new Lane();
  const acted: number[] = [];
  const all = [30, 0, 10, 0].map(
    (delayMs, index) =>
      new Promise<void>((done) => {
        lane.push(() => done(void acted.push(index)), delayMs);
      }),
  );
  expect(acted).toEqual([]);
  await Promise.all(all);
  lane.push(() => acted.push(4), 0);
  expect(acted).toEqual([0, 1, 2, 3, 4]);
});
