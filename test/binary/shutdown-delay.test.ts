import { expect, test, vi } from 'vitest';
import { type Binary, startBinary } from '../support/binary.ts';

const start = (seconds: number) => startBinary({ args: ['--shutdown-delay', String(seconds)] });

async function expectLeaving({ http }: Binary): Promise<void> {
  await vi.waitFor(async () => {
    const ready = await fetch(`http://${http}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ reason: 'the service is stopping', managing: { ready: false } });
  });
  expect((await fetch(`http://${http}/.well-known/jwks.json`)).status).toBe(200);
}

test('a server exits when the delay after SIGTERM is over', async () => {
  const binary = await start(1);
  binary.kill('SIGTERM');
  expect(await binary.exit).toMatchObject({ code: 0 });
});

test('a server serves requests during the delay but is not ready, and a second signal ends the delay', async () => {
  const binary = await start(3600);
  binary.kill('SIGTERM');
  await expectLeaving(binary);
  binary.kill('SIGINT');
  expect(await binary.exit).toMatchObject({ code: 0 });
});
