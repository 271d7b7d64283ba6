import Type, { type Static } from 'typebox';
import {
  bodyShape,
  exampleTime,
  flag,
  listOf,
  name,
  orNull,
  printable,
  shape,
  Time,
  text,
  time,
} from './fields.ts';

/** What a team declares of a feature, beside its name. */

const description = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'What the team says of it.',
});

const archived = flag('Whether the team is done with it.');
const permanent = flag('Whether it is meant to stay, so that nothing suggests to remove it.');

/** Until when a verdict is put off, as it is sent. */
const snoozedUntil = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Until when its verdict is put off; `null` for no longer.',
  ...Time,
});

const split = Type.Union(
  [
    Type.Null(),
    Type.Unsafe<Readonly<Record<string, number>>>(
      Type.Object(
        {},
        {
          patternProperties: { '': Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }) },
          minProperties: 1,
          maxProperties: 64,
        },
      ),
    ),
  ],
  {
    description:
      'How users are meant to be split: a positive weight for each variant. `null` if the team has not said.',
    example: { on: 1, off: 3 },
  },
);

const noteText = `^${printable}{1,500}$`;

const exampleNote = {
  id: '1',
  at: exampleTime,
  environment: 'Production',
  text: 'Rollout to half of the users',
  by: 'ada@shop.example',
};

export const Note = shape(
  'Note',
  {
    id: text('Its id.'),
    at: time('The time that it is about.'),
    environment: orNull(text('The environment that it is about; `null` for all of them.')),
    text: text('What it says.'),
    by: text('Who wrote it: the e-mail address of a user, or the name of an API key, at that time.'),
  },
  exampleNote,
);

export type NoteShown = Static<typeof Note>;

export const NewNote = bodyShape(
  'NewNote',
  {
    text: Type.String({ pattern: noteText, description: 'What it says.' }),
    at: Type.Optional(Type.String({ description: 'The time that it is about; without one, now.', ...Time })),
    environment: Type.Optional(name('The environment that it is about; without one, all of them.')),
  },
  { text: 'Rollout to half of the users', environment: 'Production' },
);

const sight = {
  firstSeenAt: orNull(
    time('When it was first seen, to the minute; `null` if it was never seen or that is not known.'),
  ),
  lastSeenAt: orNull(time('When it was last seen, to the minute.')),
};

const fields = {
  name: name('Its name.'),
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

export const NewFeature = bodyShape(
  'NewFeature',
  { name: name(), description: Type.Optional(description) },
  { name: 'checkout', description: 'The new checkout' },
);

export const FeaturePatch = bodyShape(
  'FeaturePatch',
  {
    description: Type.Optional(description),
    archived: Type.Optional(archived),
    permanent: Type.Optional(permanent),
    snoozedUntil: Type.Optional(snoozedUntil),
    split: Type.Optional(split),
  },
  { archived: true },
);
