import type { Static } from 'typebox';
import { Deletion } from '../contract/shapes/deletion.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import type { Deletion as StoredDeletion } from '../storage/lmdb/records.ts';
import { page, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { cutPage, namePage, paging } from './lists.ts';

export const deletions: Group<ManageDeps> = {
  tag: 'Deletions',
  description:
    'The data of a deleted application or environment is removed in the background. It is listed here until nothing is left; then the audit log has an entry.',
  endpoints: [
    endpoint('GET /deletions', {
      access: { within: 'service', least: 'User' },
      operationId: 'listDeletions',
      summary: 'List what is still being removed in your teams',
      query: paging,
      answers: { 200: page(Deletion, 'The order is fixed and has no meaning.') },
      handle({ directory, caller, query }) {
        const own = [...directory.deletions].filter(([, { teamId }]) => caller.teams.includes(teamId));
        const { items, nextCursor } = cutPage(own, namePage(query), ([key]) => key);
        return ok({ items: items.map(([, deletion]) => show(deletion)), nextCursor });
      },
    }),
  ],
};

function show({ target, teamId, requestedAt }: StoredDeletion): Static<typeof Deletion> {
  return { target, teamId, requestedAt: timeText(requestedAt) };
}
