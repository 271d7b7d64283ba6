import { expect, test } from 'vitest';
import { CallerQueue } from '../../src/accounts/caller-queue.ts';

/** Asks for work until it is refused; gives what was let in, and with which code it ended. */
function fill(queue: CallerQueue, caller: string, work: () => Promise<void>) {
  const done: Promise<void>[] = [];
  for (;;) {
    try {
      done.push(queue.run(caller, work));
    } catch (error) {
      return { done, code: (error as { code: string }).code };
    }
  }
}

test('work is done one by one, in the order it came, whatever becomes of it', async () => {
  const queue = new CallerQueue();
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
    if (name === 'first') throw new Error('first failed');
    return name;
  };
  const both = await Promise.allSettled([queue.run('ada', work('first')), queue.run('bob', work('second'))]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

test('one caller may have only so much waiting, and so may all of them', async () => {
  const queue = new CallerQueue();
  let begin = () => {};
  const gate = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const first = fill(queue, 'ada', () => gate);
  expect(first).toMatchObject({ code: 'rate_limited', done: { length: 32 } });
  queue.checkRoom('bob');
  const others = ['bob', 'eve', 'tom'].map((caller) => fill(queue, caller, () => gate));
  expect(others.map(({ done }) => done.length)).toEqual([32, 32, 32]);
  expect(fill(queue, 'zoe', () => gate)).toMatchObject({ code: 'backpressure', done: { length: 0 } });
  begin();
  await Promise.all([first, ...others].flatMap(({ done }) => done));
  queue.checkRoom('ada');
});
