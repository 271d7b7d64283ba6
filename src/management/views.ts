import type { Accounts } from '../accounts/accounts.ts';
import { nameRule, tooMany } from '../accounts/checks.ts';
import { createView, deleteView, listViews, onlyAuthor, patchView } from '../accounts/views.ts';
import { maxViews, NewView, SavedView, ViewPatch } from '../contract/shapes/view.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application, StoredView } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';

/** `/api/v2/applications/{id}/views`. */
export const views: Group = {
  tag: 'Saved views',
  description:
    'Choices on a page of the console, saved under a name. A view is private, or shared with all users who can see the application.',
  endpoints: [
    endpoint('GET /applications/:id/views', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listViews',
      summary: 'List the saved views of an application',
      query: paging,
      responses: { 200: page(SavedView, 'Shared views and your own views, the oldest first.') },
      handle: ({ directory, caller, application, query }) =>
        ok(
          createPage(listViews(application, caller.id), query, (view) =>
            showView(directory, application, view, caller.id),
          ),
        ),
    }),
    endpoint('POST /applications/:id/views', {
      access: { within: 'application', least: 'User' },
      operationId: 'saveView',
      summary: 'Save a view',
      description: 'A view is private by default.',
      body: NewView,
      responses: { 201: made(SavedView, 'The view.') },
      refuses: { invalid_name: nameRule('a view'), plan_limit: tooMany('saved views of an application', maxViews) },
      async handle({ directory, caller, application, body }) {
        const { id } = application;
        const view = await createView(directory, id, caller.id, body);
        return created(['applications', id, 'views', view.id], showView(directory, application, view, caller.id));
      },
    }),
    endpoint('PATCH /applications/:id/views/:viewId', {
      access: { within: 'application', least: 'User' },
      operationId: 'changeView',
      summary: 'Change a saved view',
      body: ViewPatch,
      responses: { 200: jsonResponse(SavedView, 'The view after the change.') },
      refuses: { forbidden: onlyAuthor, invalid_name: nameRule('a view') },
      async handle({ directory, caller, application, params, body }) {
        const view = await patchView(directory, application.id, caller.id, params.viewId, body);
        return ok(showView(directory, application, view, caller.id));
      },
    }),
    endpoint('DELETE /applications/:id/views/:viewId', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteView',
      summary: 'Delete a saved view',
      responses: { 204: done('The view is deleted.') },
      handle: ({ directory, caller, application, params }) =>
        deleteView(directory, application.id, caller.id, params.viewId),
    }),
  ],
};

function showView(
  { users, apiKeys }: Pick<Accounts, 'users' | 'apiKeys'>,
  { teamId }: Pick<Application, 'teamId'>,
  view: StoredView,
  caller: string,
): SavedView {
  const { id, name, page, query, shared, author, createdAt, updatedAt } = view;
  const user = users.get(author);
  return {
    id,
    name,
    page,
    query,
    shared,
    by: (user?.teams.includes(teamId) ? user.email : undefined) ?? apiKeys.get(author)?.name ?? null,
    mine: author === caller,
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}
