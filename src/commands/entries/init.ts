import { command } from '../../cli/command.ts';
import { jsonFlag } from '../../cli/common-flags.ts';
import { adminEmailFlag, dataFlags, passwordFile } from './shared-flags.ts';

export const init = command({
  name: 'init',
  summary: 'Initialise a data directory; print its first administrator and API key once',
  flags: [adminEmailFlag, ...dataFlags, passwordFile('admin-password-file'), jsonFlag],
  notes: 'An initialised data directory is left unchanged (exit code 1).\n',
  load: async () => (await import('../server/init.ts')).init,
});
