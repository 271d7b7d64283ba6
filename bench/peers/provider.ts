import { join, resolve } from 'node:path';
import { startProcess, stop } from '../../test/support/binary.ts';
import { versionIn } from '../../test/support/install-modules.ts';
import { tokenRequest } from '../tokens.ts';
import type { Peer } from './peer.ts';

const root = resolve(import.meta.dirname, '../..');
const credentials = { clientId: 'bench', clientSecret: 's'.repeat(43) };

/** An OpenID provider that issues tokens to machines. */
export const provider: Peer = {
  status: 200,
  uniqueUsers: '',
  async start() {
    const { clientId, clientSecret } = credentials;
    const script = join(import.meta.dirname, 'provider.mjs');
    const started = await startProcess('node', [script, clientId, clientSecret], { NODE_ENV: 'production' });
    return {
      name: `oidc-provider ${versionIn(root, 'oidc-provider')}`,
      http: started.http,
      pid: started.pid,
      counts: undefined,
      processes: () => [started.pid],
      requests: () => [
        { text: tokenRequest(started.http, credentials, { path: '/token', scope: 'flagmeter' }), checks: 0 },
      ],
      stop: async () => void (await stop(started)),
    };
  },
};
