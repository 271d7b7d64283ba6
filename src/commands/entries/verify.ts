import { command } from '../../cli/command.ts';
import { jsonFlag } from '../../cli/common-flags.ts';
import { backupKeyFlag, dataFlags } from './shared-flags.ts';

export const verify = command({
  name: 'verify',
  summary: 'Check a data directory or a backup for damage',
  operand: { name: 'FILE', optional: true, description: 'Backup' },
  flags: [...dataFlags, backupKeyFlag, jsonFlag],
  notes: `
Checks every page, record and reference, and that counts of minutes, hours and days add up. Stop the
server first, or verify a backup. A backup is restored temporarily beside its file, which needs the
same space again. Exit code 1: something is damaged. The output lists the damage and the remedy.
`,
  load: async () => (await import('../server/verify.ts')).verify,
});
