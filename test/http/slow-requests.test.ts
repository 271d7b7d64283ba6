import { expect, test } from 'vitest';
import { RequestIds } from '../../src/http/request-ids.ts';
import { createRouter } from '../../src/http/router.ts';
import { SlowRequests } from '../../src/http/slow-requests.ts';
import type { Request } from '../../src/http/types.ts';

/** Opens a router with one route. The query of a request sets its duration, ms. */
function openRouter(fromMs: number) {
  const lines: Record<string, unknown>[] = [];
  let now = 0;
  const clock = { monotonic: () => now };
  const log = { warn: (msg: string, fields = {}) => void lines.push({ msg, ...fields }) };
  const dispatch = createRouter(
    [
      {
        method: 'GET',
        path: '/of/:person',
        async handle({ query }) {
          now += Number(query);
          return { status: 202 };
        },
      },
    ],
    { slow: new SlowRequests(fromMs, log, clock), clock, ids: new RequestIds(() => Buffer.alloc(6)) },
  );
  const ask = (ms: number, id?: string) =>
    dispatch({ method: 'GET', path: '/of/ann', query: String(ms), header: () => id } as unknown as Request);
  return { lines, ask, pass: (ms: number) => (now += ms) };
}

test('a slow request is logged with its route and the request id of its response', async () => {
  const { lines, ask } = openRouter(100);
  await ask(99);
  expect(lines).toEqual([]);
  const response = await ask(100);
  const requestId = response.headers?.['x-request-id'];
  expect(requestId).toMatch(/^0{12}-/);
  expect(lines).toEqual([
    {
      msg: 'slow request',
      method: 'GET',
      route: '/of/:person',
      status: 202,
      code: undefined,
      bytes: 0,
      ms: 100,
      requestId,
    },
  ]);
});

test('a slow request is logged with the request id that the client sent', async () => {
  const { lines, ask } = openRouter(100);
  await ask(100, 'from-a-proxy');
  expect(lines).toMatchObject([{ requestId: 'from-a-proxy' }]);
});

test('one slow request a second is logged, with the number of other slow requests', async () => {
  const { lines, ask, pass } = openRouter(100);
  for (let at = 0; at < 5; at += 1) await ask(100);
  expect(lines).toHaveLength(1);
  pass(1000);
  await ask(100);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ others: 4 });
});

test('no slow requests are logged if the threshold is 0', async () => {
  const { lines, ask } = openRouter(0);
  await ask(1e9);
  expect(lines).toEqual([]);
});
