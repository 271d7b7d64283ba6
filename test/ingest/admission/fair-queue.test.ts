import { expect, test } from 'vitest';
import { FairQueue } from '../../../src/runtime/fair-queue.ts';

/** Opens a queue in which the test decides when a task ends. */
function open(bounds = { atOnce: 2, waitingEach: 2, waitingAll: 4 }) {
  const refusals = { each: 'Too much of yours waits', all: 'Too much waits' };
  const queue = new FairQueue({ ...bounds, refusals });
  const going: { readonly name: string; readonly end: () => void }[] = [];
  const refused: unknown[] = [];
  const ask = (owner: string, name = owner) => {
    const work = () =>
      new Promise<void>((end) => {
        going.push({ name, end });
      });
    queue.run(owner, work).catch((error) => refused.push(error));
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    queue,
    ask,
    refused,
    async going() {
      await settle();
      return going.map(({ name }) => name);
    },
    async end(name: string) {
      await settle();
      const index = going.findIndex((each) => each.name === name);
      going.splice(index, 1)[0]!.end();
    },
  };
}

test('a queue runs one task of each owner at a time, regardless of the backlog of another owner', async () => {
  const { ask, going, end } = open();
  for (const name of ['a1', 'a2', 'a3']) ask('a', name);
  ask('b', 'b1');
  expect(await going()).toEqual(['a1', 'b1']);
  await end('a1');
  expect(await going()).toEqual(['b1', 'a2']);
});

test('owners get slots round robin, regardless of the number of their waiting tasks', async () => {
  const { ask, going, end } = open({ atOnce: 1, waitingEach: 9, waitingAll: 9 });
  for (const name of ['a1', 'a2', 'a3']) ask('a', name);
  for (const name of ['b1', 'b2']) ask('b', name);
  ask('c', 'c1');
  const order: string[] = [];
  for (let left = 6; left > 0; left -= 1) {
    const [name = ''] = await going();
    order.push(name);
    await end(name);
  }
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a queue refuses too many tasks of one owner with 429, and too many tasks of all owners with 503', async () => {
  const { ask, refused, going, end } = open();
  for (let more = 0; more < 4; more += 1) ask('a');
  await going();
  expect(refused).toMatchObject([{ code: 'rate_limited', retryAfter: 2 }]);
  for (const owner of ['b', 'c', 'd', 'e']) ask(owner);
  await going();
  expect(refused).toMatchObject([{ code: 'rate_limited' }, { code: 'backpressure', retryAfter: 2 }]);
  await end('b');
  ask('f');
  await going();
  expect(refused.length).toBe(2);
});

test('a failed task frees its slot for the next task', async () => {
  const { queue, ask, going } = open({ atOnce: 1, waitingEach: 1, waitingAll: 1 });
  const failing = queue.run('a', () => Promise.reject(new Error('as it happens')));
  ask('b');
  await expect(failing).rejects.toThrow('as it happens');
  expect(await going()).toEqual(['b']);
});
