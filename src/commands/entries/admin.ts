import { command } from '../../cli/command.ts';
import { jsonFlag } from '../../cli/common-flags.ts';
import { flag } from '../../contract/shapes/option.ts';
import { dataFlags, ofPostgres, passwordFile } from './shared-flags.ts';

export const admin = command({
  name: 'admin reset-password',
  summary: 'Reset the password of a user and end their sessions, here or in PostgreSQL',
  flags: [
    flag('email EMAIL', 'E-mail address of the user', { required: true }),
    ...dataFlags,
    ...ofPostgres,
    passwordFile('password-file'),
    flag('remove-second-factors', 'Also remove the authenticator app and the passkeys of the user'),
    jsonFlag,
  ],
  notes: `
Takes effect at once, also while the server runs. Run it on the machine of the server, as its user
or as root; with PostgreSQL, on any machine.
`,
  load: async () => (await import('../server/reset-password.ts')).resetPassword,
});
