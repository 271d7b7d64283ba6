import type { Flag } from '../contract/resources/field.ts';
import { flag } from '../contract/resources/field.ts';

/** Where PostgreSQL is, for each command that connects to it. */
export const postgresFlags: readonly Flag[] = [
  flag('postgres URL', 'URL of PostgreSQL with all of its hosts; prefer --postgres-file', {
    more: 'postgres://USER:PASSWORD@HOST,HOST/DATABASE, FLAGMETER_POSTGRES',
    formerly: 'engine',
  }),
  flag('postgres-file FILE', 'File with the URL, and nothing else', {
    file: true,
    more: 'FLAGMETER_POSTGRES_FILE',
    formerly: 'engine-file',
  }),
  flag('config FILE', 'JSON file that may name PostgreSQL', { file: true, more: 'FLAGMETER_CONFIG' }),
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
    formerly: 'engine-key-file',
  },
);
