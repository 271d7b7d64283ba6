import { expect, test } from 'vitest';
import { openManageFixture } from './fixture.ts';

const path = (id: string) => `/api/v2/applications/${id}`;

test('a change with If-Match applies only to the version that the caller has read', async () => {
  const { application, tokens, sendTo, clock } = await openManageFixture();
  const authorization = `Bearer ${tokens.admin}`;
  const patch = (name: string, match: string) =>
    sendTo(path(application.id), {
      method: 'PATCH',
      headers: { authorization, 'if-match': match },
      body: JSON.stringify({ name }),
    });
  const seen = await sendTo(path(application.id), { headers: { authorization } });
  const tag = seen.headers['etag'] as string;
  expect(tag).toMatch(/^"[\w-]{22}"$/);
  clock.advance(1);
  const first = await patch('First', tag);
  expect(first).toMatchObject({ status: 200, json: { name: 'First' } });
  expect(await patch('Second', tag)).toMatchObject({ status: 412, json: { code: 'precondition_failed' } });
  expect(await patch('Third', `"other", ${first.headers['etag']}`)).toMatchObject({ status: 200 });
  expect(await patch('Fourth', '*')).toMatchObject({ status: 200, json: { name: 'Fourth' } });
});

test('only one of several concurrent changes to the same version of a resource succeeds', async () => {
  const { application, tokens, sendTo, clock, directory } = await openManageFixture();
  const authorization = `Bearer ${tokens.admin}`;
  const seen = await sendTo(path(application.id), { headers: { authorization } });
  clock.advance(1);
  const patches = ['One', 'Two', 'Three'].map((name) =>
    sendTo(path(application.id), {
      method: 'PATCH',
      headers: { authorization, 'if-match': seen.headers['etag'] as string },
      body: JSON.stringify({ name }),
    }),
  );
  const responses = await Promise.all(patches);
  expect(responses.map(({ status }) => status)).toEqual([200, 412, 412]);
  expect(directory.applications.get(application.id)?.name).toBe('One');
});
