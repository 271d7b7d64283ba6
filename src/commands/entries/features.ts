import { cleanup } from '../../cli/cleanup.ts';
import { tableNotes } from '../../cli/client-command.ts';
import type { Entry } from '../../cli/command.ts';
import { resourceEntry } from '../../cli/resource-entry.ts';
import { scanCode } from '../../cli/scan/run-scan.ts';

const { summary, commands } = resourceEntry('features');

export const features: Entry = {
  summary: `${summary}; scan source code; list removable features`,
  commands: [...commands, scanCode, cleanup],
  notes: `
features scan reads the files that git does not ignore, except dependencies such as node_modules,
binary files and files over 1 MiB. Git is not needed. It finds known features by name, as a word or
in quotes, and any name that is the first argument of a function such as isEnabled. With
--fail-if-any, features scan and features list exit with 8 if they find anything.

features scan --upload sends the places of known features to the server, which shows them with each
feature. DIR must be a whole repository: features that it does not name count as missing from the
code. CODEOWNERS names the owners. It needs the scope write.
${tableNotes}`,
};
