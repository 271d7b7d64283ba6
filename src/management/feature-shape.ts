import Type, { type Static } from 'typebox';
import { flag, listOf, name, orNull, shape, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';
import { archived, description, exampleNote, Note, permanent, split } from './declaration-shape.ts';

const sight = {
  firstSeenAt: orNull(
    time('When it was first seen, to the minute; `null` if it was never seen or that is not known.'),
  ),
  lastSeenAt: orNull(time('When it was last seen, to the minute.')),
};

const fields = {
  name: name(),
  description,
  declared: flag('Whether the team has declared it. Otherwise it was only seen.'),
  archived,
  archivedAt: orNull(time('When it was archived; `null` if it is not, or that is not known.')),
  permanent,
  snoozedUntil: orNull(time('Until when its verdict is put off.')),
  split,
  stale: flag('Whether it was neither seen nor declared for long.'),
  ...sight,
  createdAt: orNull(time('When it was declared.')),
  updatedAt: orNull(time('When its declaration was last changed.')),
};

const example = {
  name: 'checkout',
  description: 'The new checkout',
  declared: true,
  archived: false,
  archivedAt: null,
  permanent: false,
  snoozedUntil: null,
  split: { on: 1, off: 1 },
  stale: false,
  firstSeenAt: exampleTime,
  lastSeenAt: exampleTime,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

/** A feature in a list. */
export const Feature = shape('Feature', fields, example);

export type FeatureShown = Static<typeof Feature>;

const VariantSight = Type.Object({ variant: text('Name of the variant.'), ...sight });

const EnvironmentSight = Type.Object({
  environment: text('Name of the environment.'),
  ...sight,
  variants: Type.Array(VariantSight, { description: 'Its variants that were seen there, by name.' }),
});

/** A feature by itself, with what is too long for a list. */
export const FeatureDetail = shape(
  'FeatureDetail',
  {
    ...fields,
    notes: listOf(Note, 'The notes of the team, by time.'),
    environments: listOf(EnvironmentSight, 'The environments in which it was seen.'),
    nearest: orNull(
      text('For a feature that is not declared: the declared one whose name is most like it, if any is.'),
    ),
  },
  {
    ...example,
    notes: [exampleNote],
    environments: [
      {
        environment: 'Production',
        firstSeenAt: exampleTime,
        lastSeenAt: exampleTime,
        variants: [{ variant: 'on', firstSeenAt: exampleTime, lastSeenAt: exampleTime }],
      },
    ],
    nearest: null,
  },
);

export type FeatureDetailShown = Static<typeof FeatureDetail>;
