import Type, { type Static } from 'typebox';
import { createKey, deleteKey } from '../accounts/application-keys.ts';
import { nameRule } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { overPlan } from '../accounts/plans.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import { bodyShape, listOf, name, oneOf, orNull, shape, text, time } from '../http/schema.ts';
import type { ApplicationKey as StoredKey } from '../storage/lmdb/records.ts';
import { created, done, exampleIds, exampleTime, made, page, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { pageOf, paging } from './lists.ts';

const type = Type.Union([Type.Literal('Frontend'), Type.Literal('Mobile'), Type.Literal('Backend')], {
  description:
    'Frontend and Mobile keys are for browsers and apps and are not secret. A Backend key is secret.',
});

const nameOfKey = name('The default is its type.');

const Warning = Type.Object({
  code: oneOf(['leaked'], 'What is wrong.'),
  message: text('The same for people, and what to do.'),
  at: time('When it was first noticed.'),
});

export const ApplicationKey = shape(
  'ApplicationKey',
  {
    id: text('Its id, which is not secret.'),
    type,
    name: nameOfKey,
    prefix: text('The beginning of the key, to recognise it by.'),
    key: Type.Optional(text('The key. Left out of a Backend key, which cannot be read again.')),
    createdAt: time('When it was created.'),
    lastUsedAt: orNull(time('When it was last used, to the minute or so; `null` if never.')),
    warnings: listOf(Warning, 'What is wrong with the key.'),
  },
  {
    id: exampleIds.key,
    type: 'Frontend',
    name: 'Web',
    prefix: 'fm_fe_000000',
    key: `fm_fe_${'0'.repeat(40)}`,
    createdAt: exampleTime,
    lastUsedAt: null,
    warnings: [],
  },
);

export const ApplicationKeyShownOnce = shape(
  'ApplicationKeyShownOnce',
  {
    id: text('Its id, which is not secret.'),
    type,
    name: nameOfKey,
    key: text('The key. Keep a Backend key now, and on servers only: it is never shown again.'),
    createdAt: time('When it was created.'),
  },
  {
    id: exampleIds.key,
    type: 'Backend',
    name: 'Server',
    key: `fm_be_${'0'.repeat(40)}`,
    createdAt: exampleTime,
  },
);

const NewApplicationKey = bodyShape(
  'NewApplicationKey',
  { type, name: Type.Optional(nameOfKey) },
  { type: 'Backend', name: 'Server' },
);

export const keys: Group<ManageDeps> = {
  tag: 'Application keys',
  description: 'Packets and reports carry an application key. This API does not take them.',
  endpoints: [
    endpoint('GET /applications/:id/keys', {
      access: { within: 'application', least: 'User' },
      operationId: 'listKeys',
      summary: 'List the keys of an application',
      query: paging,
      answers: { 200: page(ApplicationKey, 'The oldest key comes first.') },
      handle: ({ directory, application, query }) =>
        ok(pageOf(directory.keysOf(application.id), query, (key) => show(directory, key))),
    }),
    endpoint('POST /applications/:id/keys', {
      access: { within: 'application', least: 'Admin' },
      operationId: 'createKey',
      summary: 'Create a key',
      body: NewApplicationKey,
      answers: { 201: made(ApplicationKeyShownOnce, 'The key. It works from now on.') },
      refuses: { invalid_name: nameRule('a key'), plan_limit: overPlan('free', 'keys') },
      async handle({ directory, application, body }) {
        const { key, text } = await createKey(directory, application.id, body);
        const { id, type, name, createdAt } = key;
        const shown = { id, type, name, key: text, createdAt: timeText(createdAt) };
        return created(['applications', application.id, 'keys', id], shown);
      },
    }),
    endpoint('DELETE /applications/:id/keys/:keyId', {
      access: { within: 'application', least: 'Admin' },
      operationId: 'deleteKey',
      summary: 'Revoke a key',
      description: 'Packets and reports with this key are refused from now on.',
      answers: { 204: done('It is revoked.') },
      handle: ({ directory, application, params }) => deleteKey(directory, application.id, params.keyId),
    }),
  ],
};

/** A key as lists show it. Of a Backend key the service knows a hash only. */
function show(directory: Directory, key: StoredKey): Static<typeof ApplicationKey> {
  return {
    id: key.id,
    type: key.type,
    name: key.name,
    prefix: key.prefix,
    ...(key.text === null ? {} : { key: key.text }),
    createdAt: timeText(key.createdAt),
    lastUsedAt: timeText(directory.lastUsedAt(key)),
    warnings: warningsOf(directory.leakedAt(key)),
  };
}

function warningsOf(leakedAt: number | null): Static<typeof Warning>[] {
  if (leakedAt === null) return [];
  const message =
    'This Backend key came in a telemetry packet, so it is in a browser or an app: replace it, then delete it';
  return [{ code: 'leaked', message, at: timeText(leakedAt) }];
}
