import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { Forwarder, Receiver } from '../../src/http/relay/relay.ts';
import type { Dispatch, HttpResponse } from '../../src/http/types.ts';
import { LargeBodies } from '../../src/ingest/admission/large-bodies.ts';
import { fakeRequest } from './support/fake-request.ts';

/** Opens a `Forwarder` and its `Receiver`, both in this thread. */
function open(dispatch: Dispatch) {
  const { port1, port2 } = new MessageChannel();
  const findAddress = (connected: string) => `${connected} seen by the main thread`;
  new Receiver(port1, { dispatch, findAddress });
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  return { forwarder: new Forwarder(port2), closeMain: () => port1.close(), closeThread: () => port2.close() };
}

const unread = () => Promise.reject(new Error('the body is not read'));

test('a forwarded request gets a response, and the main thread determines its client address', async () => {
  const { forwarder } = open(({ method, path, query, remoteAddress }) => ({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: [method, path, query, remoteAddress].join(' '),
    code: 'not_found',
  }));
  const response = await forwarder.forward(fakeRequest({ method: 'GET', path: '/a', query: 'b=c' }));
  expect(response).toEqual({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: 'GET /a b=c 192.0.2.1 seen by the main thread',
    code: 'not_found',
  });
});

test('the main thread gets every header of a forwarded request, regardless of its name', async () => {
  const { forwarder } = open((request) => ({ status: 200, body: JSON.stringify([...request.headers()]) }));
  const headers = JSON.parse('{"__proto__":"a","constructor":"b","x-c":"c, d"}');
  const { body } = await forwarder.forward(fakeRequest({ headers }));
  expect(JSON.parse(body as string)).toEqual(Object.entries(headers));
});

test('a body that the front-end thread has already read is forwarded if the limit and the budget allow it', async () => {
  const budget = new LargeBodies(10_000);
  const { forwarder } = open(async (request) => {
    const body = await request.body(9_000, budget).catch((error: Error) => error);
    if (body instanceof Error) return { status: 400, body: body.message };
    const { held } = budget;
    budget.release(body);
    return { status: 200, body: `${body.length} ${held}` };
  });
  const send = async (length: number) =>
    (await forwarder.forward({ ...fakeRequest({}), body: unread }, new Uint8Array(length))).body;
  expect(await send(100)).toBe('100 0');
  expect(await send(8_000)).toBe('8000 8000');
  expect(await send(9_001)).toBe('A body may have at most 9000 bytes');
  budget.take(5_000);
  expect(await send(8_000)).toBe('Too many large bodies are being processed');
  expect(budget.held).toBe(5_000);
});

test('only the bytes of a body, and not the buffer around them, are sent to the main thread', async () => {
  const { forwarder } = open(async (request) => ({ status: 200, body: await request.body(10) }));
  const body = new Uint8Array(new ArrayBuffer(1_000), 10, 3).fill(7);
  const response = await forwarder.forward(fakeRequest({ body }));
  const sent = response.body as Uint8Array;
  expect([[...sent], sent.buffer.byteLength]).toEqual([[7, 7, 7], 3]);
});

test('every forwarded request fails immediately if the main thread stops', async () => {
  const { forwarder, closeMain } = open(never);
  const pending = forwarder.forward(fakeRequest({}));
  closeMain();
  expect((await pending).status).toBe(503);
  expect((await forwarder.forward(fakeRequest({}))).status).toBe(503);
});

test('the bodies of forwarded requests fail if their front-end thread stops', async () => {
  let failed = (_: string) => {};
  const gone = new Promise<string>((resolve) => {
    failed = resolve;
  });
  const { forwarder, closeThread } = open(async (request) => {
    if (request.path === '/whole') return { status: 200 };
    await request.body(10).catch((error: Error) => failed(error.name));
    return { status: 400 };
  });
  void forwarder.forward({ ...fakeRequest({ path: '/body' }), body: () => new Promise(() => {}) });
  await forwarder.forward(fakeRequest({ path: '/whole' }));
  closeThread();
  expect(await gone).toBe('DisconnectError');
});

function never(): Promise<HttpResponse> {
  return new Promise(() => {});
}
