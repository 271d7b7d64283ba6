import type { Json } from '../../http/openapi/json-schema.ts';
import { newKeySchema } from '../keys.ts';
import { done, made, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import {
  asGiven,
  bodyShape,
  exampleIds,
  exampleTime,
  fields,
  listOf,
  oneOf,
  orNull,
  type Shape,
  text,
  time,
} from './shape.ts';

const head: Json = {
  id: text('Its id, which is no secret.'),
  ...asGiven(newKeySchema, 'type', 'name'),
};

const createdAt = time('When it was made.');

const key: Shape = {
  name: 'ApplicationKey',
  schema: fields(
    {
      ...head,
      prefix: text('The beginning of the key, to recognise it by.'),
      key: text('The key. Not there for a Backend key, which nobody can read again.'),
      createdAt,
      lastUsedAt: orNull(time('When it was used the last time, to a minute or so; `null` if never.')),
      warnings: listOf(
        fields({
          code: oneOf(['leaked'], 'What is wrong.'),
          message: text('The same for people, and what to do.'),
          at: time('When it was noticed first.'),
        }),
        'What is wrong with the key.',
      ),
    },
    ['key'],
  ),
  example: {
    id: exampleIds.key,
    type: 'Frontend',
    name: 'Web',
    prefix: 'fm_fe_000000',
    key: `fm_fe_${'0'.repeat(40)}`,
    createdAt: exampleTime,
    lastUsedAt: null,
    warnings: [],
  },
};

const newKey = bodyShape('NewApplicationKey', newKeySchema, { type: 'Backend', name: 'Server' });

const shownOnce: Shape = {
  name: 'ApplicationKeyShownOnce',
  schema: fields({
    ...head,
    key: text('The key. Keep a Backend key now, and on servers only: it is never shown again.'),
    createdAt,
  }),
  example: {
    id: exampleIds.key,
    type: 'Backend',
    name: 'Server',
    key: `fm_be_${'0'.repeat(40)}`,
    createdAt: exampleTime,
  },
};

/** `/applications/{id}/keys` and what is below. */
export const keys: Resource = {
  tag: 'Application keys',
  words: 'What packets and reports carry. They are of no use for this API.',
  shapes: [key, newKey, shownOnce],
  routes: {
    'GET /applications/:id/keys': {
      operationId: 'listKeys',
      summary: 'List the keys of an application',
      query: paging,
      answers: { 200: page(key, 'The oldest key comes first.') },
    },
    'POST /applications/:id/keys': {
      operationId: 'createKey',
      summary: 'Make a key',
      body: newKey,
      answers: { 201: made(shownOnce, 'The key, which works from now on.') },
      refusals: {
        invalid_name: 'Cannot take the name of a key: must be 1–256 UTF-8 bytes without control characters',
        plan_limit: 'The plan free allows no more than 10 keys of an application',
      },
    },
    'DELETE /applications/:id/keys/:keyId': {
      operationId: 'deleteKey',
      summary: 'Revoke a key',
      description: 'What carries it is refused from now on.',
      answers: { 204: done('It is revoked.') },
    },
  },
};
