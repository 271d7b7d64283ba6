import type { Cleanup } from '../contract/shapes/cleanup.ts';
import { option } from '../contract/shapes/option.ts';
import { ownersText } from '../contract/shapes/owned.ts';
import { verdictWord } from '../contract/verdicts.ts';
import { connect, type Item } from './api.ts';
import { resolveApplication } from './application.ts';
import { clientCommand } from './client-command.ts';
import type { Arguments } from './command.ts';
import { appOption, jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { printJson, printTable } from './print.ts';
import { printable } from './show.ts';

export const cleanup = clientCommand({
  name: 'features cleanup',
  summary: 'List the features that can be removed, with evidence, owners and places in the code',
  examples: ['features cleanup --app Shop --markdown'],
  options: [
    option('markdown', 'Print the text of a pull request that removes them', { excludes: ['json'] }),
    ...[appOption, urlOption, jsonOption],
  ],
  run: listCleanup,
});

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if the server refuses, or cannot be reached
 */
async function listCleanup(given: Arguments, context: Context): Promise<number> {
  const api = connect(context, given);
  const { id } = await resolveApplication(context, api, given);
  const response = await api.read(['applications', String(id), 'cleanup'], {});
  const found = response as unknown as Cleanup;
  const { items, total, blockedTotal, pullRequest } = found;
  if (given.has('json')) printJson(context, response);
  else if (items.length === 0) context.err('No feature can be removed\n');
  else if (given.has('markdown'))
    context.out(pullRequest === null ? '' : `# ${pullRequest.title}\n\n${pullRequest.body}`);
  else printTable(context, columns, items as unknown as readonly Item[]);
  if (!given.has('json')) {
    const more = total > items.length ? `; ${total - items.length} more can be removed after these` : '';
    context.err(printable(`Cannot be removed yet: ${blockedTotal}${more}`));
    context.err('\n');
  }
  return 0;
}

type Row = Cleanup['items'][number];

const columns = {
  feature: { label: 'Name', cut: 'last' },
  verdict: { label: 'Verdict', state: true, of: ({ verdict }: Row) => verdictWord(verdict) },
  variant: { label: 'Keep', cut: true },
  since: 'Since',
  owners: { label: 'Owners', cut: true, of: ({ owners }: Row) => ownersText(owners) || null },
  code: {
    label: 'Places',
    right: true,
    of: ({ code }: Row) => (code.length === 0 ? null : code.reduce((sum, { count }) => sum + count, 0)),
  },
} as const;
