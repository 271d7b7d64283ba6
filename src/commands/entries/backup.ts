import { command } from '../../cli/command.ts';
import { jsonFlag } from '../../cli/common-flags.ts';
import { flag } from '../../contract/shapes/option.ts';
import { backupKeyFlag, dataFlags } from './shared-flags.ts';

export const backup = command({
  name: 'backup',
  summary: 'Back up a data directory to a file, also while a server uses it',
  flags: [
    flag('to FILE', 'Backup file; - is standard output', { file: true, required: true }),
    ...dataFlags,
    backupKeyFlag,
    jsonFlag,
  ],
  notes: `
Copies both stores as of one point in time, while a server may keep running. Run it as the user of
the server, on the same machine and in the same container. A previous file is replaced only once the
new one is complete and on disk.

Nodes of several machines are not backed up: back up PostgreSQL instead.
`,
  load: async () => (await import('../server/backup.ts')).backup,
});
