import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { prepareStore } from '../../src/accounts/prepare.ts';
import { systemClock } from '../../src/clock.ts';
import { startService } from '../../src/commands/service.ts';
import { loadConfig } from '../../src/config.ts';
import { uwsEngine } from '../../src/http/engines/uws.ts';
import type { Engine, Listener } from '../../src/http/types.ts';
import { createLog } from '../../src/log.ts';
import { openAccountStore } from '../../src/store/accounts.ts';
import { cleanUp, freshDirectory } from '../support/binary.ts';
import { workerFile } from '../support/service.ts';

afterAll(cleanUp);

test('a service that cannot be put together after it has bound leaves nothing open', async () => {
  const opened: Listener[] = [];
  const engine: Engine = {
    name: 'uws',
    async listen(options) {
      const listener = await uwsEngine.listen(options);
      opened.push(listener);
      // What the routes are made from: the issuer of tokens is the listener's address.
      return { ...listener, host: undefined as unknown as string };
    },
  };
  const argv = [
    '--data',
    `${freshDirectory()}/data`,
    '--listen',
    '127.0.0.1:0',
    '--grpc-listen',
    '127.0.0.1:0',
  ];
  const config = loadConfig({ argv, env: {}, readFile: () => '' });
  const accounts = openAccountStore(config.data);
  await prepareStore(accounts, { adminEmail: 'admin@localhost', clock: systemClock, randomBytes });
  const log = createLog('error', () => {}, systemClock);
  const fatal = () => {};
  const parts = { config, accounts, engine, workerFile, clock: systemClock, randomBytes, log, fatal };
  await expect(startService(parts)).rejects.toThrow(TypeError);
  const [{ host, port }] = opened as [Listener];
  await expect(fetch(`http://${host}:${port}/healthz`)).rejects.toThrow();
  await openAccountStore(config.data).environment.close();
});
