import Type, { type Static } from 'typebox';
import { flag, name, orNull, shape, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';

export const description = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'What the team says of it.',
});

export const archived = flag('Whether the team is done with it.');

export const Feature = shape(
  'Feature',
  {
    name: name(),
    description,
    declared: flag('Whether the team has declared it. Otherwise it was only seen.'),
    archived,
    stale: flag('Whether it was neither seen nor declared for long.'),
    firstSeenAt: orNull(
      time('When it was first seen, to the minute; `null` if it was never seen or that is not known.'),
    ),
    lastSeenAt: orNull(time('When it was last seen, to the minute.')),
    createdAt: orNull(time('When it was declared.')),
    updatedAt: orNull(time('When its declaration was last changed.')),
  },
  {
    name: 'checkout',
    description: 'The new checkout',
    declared: true,
    archived: false,
    stale: false,
    firstSeenAt: exampleTime,
    lastSeenAt: exampleTime,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
);

export type FeatureShown = Static<typeof Feature>;
