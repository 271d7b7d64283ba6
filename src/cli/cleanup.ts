import type { Cleanup } from '../contract/shapes/cleanup.ts';
import { ownersText } from '../contract/shapes/owned.ts';
import { verdictWord } from '../contract/verdicts.ts';
import { connect, type Item } from './api.ts';
import { cleanupCommand } from './client-commands.ts';
import { readGiven } from './command.ts';
import type { Context } from './context.ts';
import { findApplication } from './find.ts';
import { printJson, printTable } from './print.ts';
import { printable } from './show.ts';

/**
 * Lists the features that can go, or prints the text of a pull request for them.
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
export async function runCleanup(argv: readonly string[], context: Context): Promise<number> {
  const given = readGiven(cleanupCommand, argv);
  const api = connect(context, given);
  const { id } = await findApplication(api, given.value('app') ?? '');
  const answer = await api.read(['applications', String(id), 'cleanup'], {});
  const found = answer as unknown as Cleanup;
  const { items, total, blockedTotal, pullRequest } = found;
  if (given.has('json')) printJson(context, answer);
  else if (items.length === 0) context.err('No feature can go\n');
  else if (given.has('markdown'))
    context.out(pullRequest === null ? '' : `# ${pullRequest.title}\n\n${pullRequest.body}`);
  else printTable(context, columns, items as unknown as readonly Item[]);
  if (!given.has('json')) {
    const more = total > items.length ? `; ${total - items.length} more can go after these` : '';
    context.err(printable(`Cannot go yet: ${blockedTotal}${more}`));
    context.err('\n');
  }
  return 0;
}

type Row = Cleanup['items'][number];

const columns = {
  feature: { label: 'Name', cut: true },
  verdict: { label: 'Verdict', of: ({ verdict }: Row) => verdictWord(verdict) },
  variant: { label: 'Keep', cut: true },
  since: 'Since',
  owners: { label: 'Owners', cut: true, of: ({ owners }: Row) => ownersText(owners) || null },
  code: {
    label: 'Places',
    right: true,
    of: ({ code }: Row) => (code.length === 0 ? null : code.reduce((sum, { count }) => sum + count, 0)),
  },
} as const;
