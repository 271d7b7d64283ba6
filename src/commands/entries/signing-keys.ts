import { command } from '../../cli/command.ts';
import { jsonFlag, yesFlag } from '../../cli/common-flags.ts';
import { dataFlags, ofPostgres } from './shared-flags.ts';

export const signingKeys = command({
  name: 'signing-keys rotate',
  summary: 'Rotate the key that signs tokens, here or in PostgreSQL',
  flags: [...dataFlags, ...ofPostgres, yesFlag, jsonFlag],
  notes: `
Works on the data directory of this machine, also while the server runs. The server publishes the
new key within seconds and signs with it a minute later. Tokens of the previous key stay valid until
they expire; its private part is deleted. For a key of an application, use keys rotate.
`,
  load: async () => (await import('../server/rotate-signing-key.ts')).rotateSigningKeyNow,
});
