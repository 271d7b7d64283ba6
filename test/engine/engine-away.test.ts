import { describe, expect, test, vi } from 'vitest';
import { Postgres } from '../support/postgres.ts';
import { count, read } from './fixture.ts';
import { newEngine, openNode } from './postgres-fixture.ts';

const away = { code: 'engine_unavailable', status: 503, retryAfter: 2 };

describe('an engine that is away', () => {
  test.each(['killed', 'paused'] as const)(
    'is answered 503 for, and heals: %s',
    async (how) => {
      const postgres = await Postgres.start();
      try {
        const url = await newEngine(postgres);
        const { engine, health } = openNode(url, { deadlineMs: 2000 });
        await engine.start();
        await engine.change((draft) => count(draft));
        if (how === 'killed') await postgres.kill();
        else postgres.pause();
        const begun = performance.now();
        const waited = await Promise.allSettled([
          engine.change((draft) => count(draft)),
          engine.current(),
          engine.change((draft) => draft.has('numbers', 'n')),
        ]);
        for (const each of waited) expect(each).toMatchObject({ status: 'rejected', reason: away });
        expect(performance.now() - begun).toBeLessThan(10_000);
        expect(engine.status().trouble).toBeDefined();
        const soon = performance.now();
        await expect(engine.current()).rejects.toMatchObject(away);
        await expect(engine.change((draft) => count(draft))).rejects.toMatchObject(away);
        expect(performance.now() - soon).toBeLessThan(1000);
        expect(read(engine, 'numbers', 'n')).toBe(1);
        if (how === 'killed') await postgres.start();
        else postgres.resume();
        for (;;) {
          const answer = await engine.change((draft) => count(draft)).catch(() => undefined);
          if (answer !== undefined) break;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        await engine.current();
        expect(engine.status().trouble).toBeUndefined();
        expect(health.failures).toEqual([]);
      } finally {
        await postgres.close();
      }
    },
    60_000,
  );

  test('is waited for when it comes back at once', async () => {
    const postgres = await Postgres.start();
    try {
      const { engine } = openNode(await newEngine(postgres));
      await engine.change((draft) => count(draft));
      await postgres.kill();
      const waiting = [engine.change((draft) => count(draft)), engine.current()];
      await postgres.start();
      await Promise.all(waiting);
      expect(read(engine, 'numbers', 'n')).toBe(2);
    } finally {
      await postgres.close();
    }
  }, 60_000);
});
