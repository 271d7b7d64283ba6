import { command } from '../../cli/command.ts';
import { flag } from '../../contract/shapes/option.ts';
import { backupKeyFlag, dataFlags } from './shared-flags.ts';

export const restore = command({
  name: 'restore',
  summary: 'Restore a data directory from a backup',
  flags: [
    flag('from FILE', 'Backup file; - is standard input', { file: true, required: true }),
    ...dataFlags,
    { ...backupKeyFlag, excludes: ['skip-mac-check'] },
    flag('skip-mac-check', 'Restore a backup that has a MAC without checking it'),
  ],
  notes: `
The whole backup is checked before anything is written. A directory with data is refused. If the
command is interrupted, the directory is unchanged.
`,
  load: async () => (await import('../server/restore.ts')).restore,
});
