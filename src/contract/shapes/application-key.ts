import Type from 'typebox';
import {
  bodyShape,
  exampleIds,
  exampleTime,
  listOf,
  name,
  oneOf,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';

export const type = Type.Union([Type.Literal('Frontend'), Type.Literal('Mobile'), Type.Literal('Backend')], {
  description:
    'Frontend and Mobile keys are for browsers and apps and are not secret. A Backend key is secret.',
});

const nameOfKey = name('The default is its type.');

export const Warning = Type.Object({
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

export const NewApplicationKey = bodyShape(
  'NewApplicationKey',
  { type, name: Type.Optional(nameOfKey) },
  { type: 'Backend', name: 'Server' },
);
