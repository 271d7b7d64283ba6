import { expect, test } from 'vitest';
import { deleteApiKey } from '../../src/accounts/api-keys.ts';
import { removeMember } from '../../src/accounts/members.ts';
import { maxViews } from '../../src/contract/shapes/view.ts';
import { refusal } from '../auth/fixture.ts';
import { openUsersFixture } from './people.ts';

const newView = { name: 'New flags', page: 'flags', query: 'state=new&sort=-checks' };

async function openViews() {
  const { application, ...fixture } = await openUsersFixture();
  return { ...fixture, application, path: `/applications/${application.id}/views` };
}

test('a private view is visible only to its author, and a shared view is visible to everyone', async () => {
  const { as, ada, eve, path } = await openViews();
  const own = await as(ada, 'POST', path, newView);
  expect(own).toMatchObject({ status: 201, json: { ...newView, shared: false, by: ada.user.email, mine: true } });
  const { id } = own.json as { id: string };
  expect((await as(eve, 'GET', path)).json).toMatchObject({ items: [] });
  for (const method of ['PATCH', 'DELETE'] as const)
    expect(await as(eve, method, `${path}/${id}`, {})).toMatchObject({ status: 404 });
  const shared = await as(ada, 'PATCH', `${path}/${id}`, { shared: true, name: 'New' });
  expect(shared).toMatchObject({ status: 200, json: { name: 'New', query: newView.query, shared: true } });
  expect((await as(eve, 'GET', path)).json).toMatchObject({ items: [{ id, name: 'New', mine: false }] });
});

test('a User can change and delete shared views of others, but only the author can make a view private', async () => {
  const { as, ada, eve, path } = await openViews();
  const made = await as(ada, 'POST', path, { ...newView, shared: true });
  const view = `${path}/${(made.json as { id: string }).id}`;
  expect(await as(eve, 'PATCH', view, { query: 'state=new' })).toMatchObject({
    status: 200,
    json: { query: 'state=new', by: ada.user.email },
  });
  expect(await as(eve, 'PATCH', view, { shared: false })).toMatchObject(refusal(403, 'forbidden'));
  expect(await as(eve, 'DELETE', view)).toMatchObject({ status: 204 });
  expect((await as(ada, 'GET', path)).json).toMatchObject({ items: [] });
});

test('deleting a user deletes their private views, and keeps their shared views', async () => {
  const { as, ada, eve, path, application, directory } = await openViews();
  await as(eve, 'POST', path, newView);
  await as(eve, 'POST', path, { ...newView, name: 'Ours', shared: true });
  expect(await as(ada, 'DELETE', `/users/${eve.user.id}`)).toMatchObject({ status: 204 });
  expect((await as(ada, 'GET', path)).json).toMatchObject({ items: [{ name: 'Ours', by: null, mine: false }] });
  expect(directory.applications.get(application.id)?.views).toHaveLength(1);
});

test('private views of a former member and of a deleted API key are deleted', async () => {
  const { as, ada, bob, path, application, directory, team } = await openViews();
  await as(bob, 'POST', path, newView);
  await as(bob, 'POST', path, { ...newView, name: 'Ours', shared: true });
  await as(undefined, 'POST', path, newView);
  const { clientId } = [...directory.apiKeys.values()].find(({ teamId }) => teamId === team.id)!;
  expect(directory.applications.get(application.id)?.views).toHaveLength(3);
  await removeMember(directory, team.id, bob.user.id);
  await deleteApiKey(directory, team.id, clientId);
  expect(directory.applications.get(application.id)?.views).toMatchObject([{ name: 'Ours' }]);
  // The author is now only in other teams, so the name is hidden.
  expect((await as(ada, 'GET', path)).json).toMatchObject({ items: [{ name: 'Ours', by: null }] });
});

test('the number and the size of views are limited, and a view cannot lead to another site', async () => {
  const { as, eve, path } = await openViews();
  for (let count = 0; count < maxViews; count += 1) await as(eve, 'POST', path, newView);
  expect(await as(eve, 'POST', path, newView)).toMatchObject(refusal(403, 'plan_limit'));
  for (const wrong of [
    { query: 'state=<script>' },
    { query: 'state=new#other' },
    { page: 'https://evil.example' },
    { query: undefined, url: 'https://evil.example' },
  ])
    expect(await as(eve, 'POST', path, { ...newView, ...wrong })).toMatchObject(refusal(400, 'invalid_body'));
});
