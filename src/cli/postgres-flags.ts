import type { Flag } from '../contract/resources/field.ts';
import { flag } from '../contract/resources/field.ts';

/** Where the engine is, for each command that opens one. */
export const postgresFlags: readonly Flag[] = [
  flag('postgres URL', 'PostgreSQL with all of its hosts; better use --postgres-file', {
    more: 'postgres://USER:PASSWORD@HOST,HOST/DATABASE, FLAGMETER_POSTGRES',
  }),
  flag('postgres-file FILE', 'File with the URL, and nothing else', {
    file: true,
    more: 'FLAGMETER_POSTGRES_FILE',
  }),
  flag('config FILE', 'JSON file that may name the engine', { file: true, more: 'FLAGMETER_CONFIG' }),
];

export const allowAsynchronousFlag = flag(
  'allow-asynchronous',
  'Accept that a failover may lose counts and revocations',
);

export const postgresKeyFileFlag = flag(
  'postgres-key-file FILE',
  'File with the key that secrets are encrypted with',
  {
    file: true,
    more: 'FLAGMETER_POSTGRES_KEY_FILE',
  },
);
