import { afterAll, expect, test, vi } from 'vitest';
import { type Binary, cleanUp, startBinary } from '../support/binary.ts';

afterAll(cleanUp);

const start = (seconds: number) => startBinary({ args: ['--shutdown-delay', String(seconds)] });

async function expectLeaving({ http }: Binary): Promise<void> {
  await vi.waitFor(async () => {
    const ready = await fetch(`http://${http}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      reason: 'the service is stopping',
      managing: { ready: false },
    });
  });
  expect((await fetch(`http://${http}/.well-known/jwks.json`)).status).toBe(200);
}

test('a server that is told to stop serves on for a while, and is not ready: load balancers look elsewhere', async () => {
  const binary = await start(2);
  binary.kill('SIGTERM');
  await expectLeaving(binary);
  expect(await binary.exit).toMatchObject({ code: 0 });
});

test('one more signal ends that', async () => {
  const binary = await start(3600);
  binary.kill('SIGTERM');
  await expectLeaving(binary);
  binary.kill('SIGINT');
  expect(await binary.exit).toMatchObject({ code: 0 });
});
