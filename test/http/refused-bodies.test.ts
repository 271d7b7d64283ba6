import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { chunk, chunkedHead, declare } from './support/requests.ts';
import { bodyLimit } from './support/routes.ts';
import { startWith } from './support/servers.ts';
import { openTarget, readRefusal } from './support/target.ts';

const engine = await loadHttpEngine();

describe(`refused body (${engine.name})`, () => {
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterAll(() => {
    vi.useRealTimers();
  });
  const { open } = openTarget(startWith(engine));

  const rest = 'a'.repeat(100_000);
  it.each([
    ['a declared length', declare('/echo', rest.length), rest],
    ['chunks', chunkedHead('/echo') + chunk('a'.repeat(bodyLimit + 1)), `${chunk(rest)}0\r\n\r\n`],
  ])('the connection stays open while a slow client sends the rest of a body with %s', async (_, begin, end) => {
    const client = await open();
    client.write(begin);
    expect(await client.status()).toBe(413);
    vi.advanceTimersByTime(4_000);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(client.socket.writable).toBe(true);
    client.write(end);
    await readRefusal(client);
    expect(await client.ended).toBe('closed');
  });

  it('the connection of a refused body closes when the client stops sending', async () => {
    const client = await open();
    client.write(declare('/echo', 1e9));
    expect(await client.status()).toBe(413);
    vi.advanceTimersByTime(6_000);
    await readRefusal(client);
    expect(await client.ended).toBe('closed');
  });
});
