import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RebuildingServer } from '../../scripts/dev/rebuilding-server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

function isRunning(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('RebuildingServer builds and restarts a server after a change, but keeps the old server if the build fails', async () => {
  const cwd = temporaryDirectory();
  const source = join(cwd, 'source');
  const served = () => readFileSync(join(cwd, 'served'), 'utf8');
  const server = new RebuildingServer({
    cwd,
    build: ['cp', 'source', 'built'],
    serve: ['sh', '-c', 'cat built >> served; exec tail -f /dev/null'],
  });
  onTestFinished(() => server.stop());

  writeFileSync(join(cwd, 'served'), '');
  writeFileSync(source, 'one ');
  await server.rebuild();
  await expect.poll(served).toBe('one ');
  const first = server.pid;

  writeFileSync(source, 'two ');
  await Promise.all([server.rebuild(), server.rebuild()]);
  await expect.poll(served).toBe('one two ');
  expect(isRunning(first)).toBe(false);

  const second = server.pid;
  rmSync(source);
  await server.rebuild();
  expect(server.pid).toBe(second);
  expect(isRunning(second)).toBe(true);

  await server.stop();
  expect(isRunning(second)).toBe(false);
});
