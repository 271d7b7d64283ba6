import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { PostgresEngine } from '../../../src/replication/accounts/postgres.ts';
import { needing } from '../../support/needing.ts';
import { type PostgresPair, primaryAndStandby } from '../../support/postgres-pair.ts';
import { put, read } from './fixture.ts';
import { newEngine, openNode } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

let pair: PostgresPair;
beforeAll(async () => {
  pair = await primaryAndStandby();
});
afterAll(() => pair.close());

/** The requests that show accounts to a caller. */
const requests = {
  read: (engine: PostgresEngine) => engine.current(),
  'change that writes nothing': (engine: PostgresEngine) =>
    engine.change((draft) => draft.has('numbers', 'token')),
  change: (engine: PostgresEngine) => engine.change((draft) => draft.put('numbers', 'other', 1)),
};

const refusal = 'engine_unavailable';

/** The outcome of each request. */
async function answersOf(engine: PostgresEngine): Promise<Record<string, string>> {
  const answers = Object.entries(requests).map(async ([name, request]) => {
    const answer = request(engine).then(
      () => 'answered',
      ({ code }: { code: string }) => code,
    );
    return [name, await answer] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

const each = (answer: string) => Object.fromEntries(Object.keys(requests).map((name) => [name, answer]));

describe('a request whose commit no standby confirms', () => {
  it('is refused while the standby is frozen, and answered once it is thawed', async () => {
    const { engine } = openNode(await newEngine(pair.primary), { deadlineMs: 1000 });
    await engine.current();
    pair.standby.pause();
    try {
      expect(await answersOf(engine)).toEqual(each(refusal));
    } finally {
      pair.standby.resume();
    }
    await engine.start();
    const heals = { timeout: 60_000, interval: 50 };
    await vi.waitFor(async () => expect(await answersOf(engine)).toEqual(each('answered')), heals);
  });

  it('is refused by a node that reaches only an old primary without the changes of the new one', async () => {
    const url = await newEngine(pair.primary);
    const { engine } = openNode(url, { deadlineMs: 1000 });
    await engine.change((draft) => put(draft, 'numbers', 'token', 1));
    await engine.current();
    await pair.promote();
    await pair.beAlone();
    const other = openNode(pair.primary.url(new URL(url).pathname.slice(1)));
    await other.engine.change((draft) => draft.remove('numbers', 'token'));
    expect(await answersOf(engine)).toEqual(each(refusal));
    expect(read(engine, 'numbers', 'token')).toBe(1); // An answer would have accepted the removed token.
  });
});
