import { command } from '../../cli/command.ts';
import { jsonFlag } from '../../cli/common-flags.ts';
import { dataFlags } from './shared-flags.ts';

export const compact = command({
  name: 'compact',
  summary: 'Return unused space in the files of a data directory to the disk',
  flags: [...dataFlags, jsonFlag],
  notes: `
Copies each file without its free pages, checks the copy, and replaces the file by it. Stop the
server first. The copies need the same space again. Prints the space that was freed.
`,
  load: async () => (await import('../server/compact.ts')).compact,
});
