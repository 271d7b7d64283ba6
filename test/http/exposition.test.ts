import { expect, test } from 'vitest';
import { routesFrom } from '../../src/http/endpoint.ts';
import { exposition } from '../../src/http/exposition.ts';
import { createRouter } from '../../src/http/router.ts';
import { fakeRequest } from './support/fake-request.ts';

/** Opens `GET /metrics` with one counter, which counts how often it is read. */
function open(mayRead = true) {
  const state = { now: 0, reads: 0, fails: false };
  const counter = {
    name: 'reads_total',
    type: 'counter' as const,
    help: 'Reads.',
    read() {
      state.reads += 1;
      if (state.fails) throw new Error('broken');
      return state.reads;
    },
  };
  const deps = { metrics: [counter], clock: { monotonic: () => state.now }, mayRead: () => mayRead };
  const dispatch = createRouter(routesFrom([exposition], deps));
  return { state, ask: async () => dispatch(fakeRequest({ method: 'GET', path: '/metrics' })) };
}

test('requests for the metrics within a second get the same text', async () => {
  const { state, ask } = open();
  const responses = await Promise.all([ask(), ask()]);
  state.now = 999;
  responses.push(await ask());
  for (const { body } of responses) expect(body).toContain('reads_total 1');
  expect(state.reads).toBe(1);
  state.now = 1_000;
  expect((await ask()).body).toContain('reads_total 2');
});

test('a failure to read the metrics is not cached', async () => {
  const { state, ask } = open();
  state.fails = true;
  expect((await ask()).status).toBe(500);
  state.fails = false;
  expect((await ask()).status).toBe(200);
});

test('a refusal of the metrics mentions --ops-listen, and the metrics are not read', async () => {
  const { state, ask } = open(false);
  const { status, body } = await ask();
  expect({ status, reads: state.reads }).toEqual({ status: 404, reads: 0 });
  expect(JSON.parse(body as string)).toMatchObject({
    code: 'not_found',
    detail: expect.stringContaining('--ops-listen'),
  });
});
