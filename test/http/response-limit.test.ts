import { expect, test } from 'vitest';
import { limitPerTurn } from '../../src/http/response-limit.ts';
import type { HttpResponse, Request } from '../../src/http/types.ts';

/** Opens a dispatch that responds to two requests per event loop iteration. The test ends each iteration. */
function open() {
  const ends: (() => void)[] = [];
  const seen: string[] = [];
  const dispatch = limitPerTurn(
    ({ path }) => {
      seen.push(path);
      return { status: 200, body: path };
    },
    2,
    (callback) => ends.push(callback),
  );
  const responses: string[] = [];
  async function send(path: string): Promise<void> {
    const { body } = (await dispatch({ path } as Request)) as HttpResponse;
    responses.push(String(body));
  }
  async function endTurn(): Promise<void> {
    ends.shift()?.();
    await settle();
  }
  return { send, seen, answered: responses, ends, endTurn };
}

async function settle(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
}

test('all requests above the limit of an event loop iteration wait for the next iteration', async () => {
  const { send, seen, answered, endTurn } = open();
  for (const path of ['a', 'b', 'c', 'd', 'e']) void send(path);
  await settle();
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(answered).toEqual(['a', 'b']);
  await endTurn();
  expect(answered).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a client that sends its next request immediately gets at most one more response in the same iteration', async () => {
  const { send, seen, endTurn } = open();
  const again = async () => {
    for (let n = 0; n < 100; n += 1) await send('again');
  };
  void again();
  await settle();
  await settle();
  expect(seen).toHaveLength(3);
  await endTurn();
  await settle();
  expect(seen).toHaveLength(6);
});

test('an event loop iteration without requests schedules no further iteration', async () => {
  const { send, ends, endTurn } = open();
  await send('a');
  expect(ends).toHaveLength(1);
  await endTurn();
  expect(ends).toHaveLength(0);
});
