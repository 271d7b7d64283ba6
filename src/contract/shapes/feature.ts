import Type, { type Static } from 'typebox';
import { FeatureCode } from './code-scan.ts';
import {
  bodyShape,
  boolean,
  exampleTime,
  getExample,
  list,
  name,
  optional,
  orNull,
  printable,
  type StoredFields,
  shape,
  Time,
  text,
  time,
} from './fields.ts';
import { createFields, option } from './option.ts';
import { exampleOwned, givenOwned, owned } from './owner.ts';
import { verdictBasis, verdictKind } from './verdict.ts';

const description = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'Description of the feature, written by the team.',
});

const archived = boolean('True if the team has archived the feature.');
const permanent = boolean('True if the feature is meant to stay. Verdicts do not suggest removing it.');

const snoozedUntil = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Time until which the team postpones the verdict; `null` ends the postponement.',
  ...Time,
});

/** A weight for each variant. */
export const weights = Type.Unsafe<Readonly<Record<string, number>>>(
  Type.Object(
    {},
    {
      patternProperties: { '': Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }) },
      minProperties: 1,
      maxProperties: 64,
    },
  ),
);

const split = Type.Union([Type.Null(), weights], {
  description: 'Intended split of users: a positive weight for each variant; `null` if no split is declared.',
  example: { on: 1, off: 3 },
});

const maxRolloutSteps = 20;

const RolloutStep = Type.Object(
  {
    at: Type.String({ description: 'Time from which the split is intended.', ...Time }),
    split: Type.Unsafe<Readonly<Record<string, number>>>({
      ...weights,
      description: 'Intended split of users: a positive weight for each variant.',
    }),
  },
  { additionalProperties: false },
);
export type RolloutStep = Static<typeof RolloutStep>;

const rollout = Type.Union([Type.Null(), Type.Array(RolloutStep, { minItems: 1, maxItems: maxRolloutSteps })], {
  description:
    'Planned steps of a rollout, by time. From the time of a step on, the split of the step replaces `split`. `null` if there is no plan.',
  example: [
    { at: '2026-02-02T08:00:00.000Z', split: { on: 10, off: 90 } },
    { at: '2026-02-09T08:00:00.000Z', split: { on: 1 } },
  ],
});

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
    id: text('Id of the note.'),
    at: time('Time that the note is about.'),
    environment: orNull(text('Environment that the note is about; `null` if the note is about all environments.')),
    text: text('Text of the note.'),
    by: text('Author: e-mail address of the user or name of the API key when the note was created.'),
  },
  exampleNote,
);
export type Note = Static<typeof Note>;

export const NewNote = bodyShape(
  'NewNote',
  {
    text: Type.String({ pattern: noteText, description: 'Text of the note.' }),
    at: Type.Optional(Type.String({ description: 'Time that the note is about. The default is now.', ...Time })),
    environment: Type.Optional(name('Environment that the note is about. The default is all environments.')),
  },
  { text: 'Rollout to half of the users', environment: 'Production' },
);

const sight = {
  firstSeenAt: orNull(
    time('Time when the feature was first seen, to the minute; `null` if it was never seen or the time is unknown.'),
  ),
  lastSeenAt: orNull(time('Time when the feature was last seen, to the minute.')),
};

const fields = {
  name: name('Name of the feature.'),
  description,
  declared: boolean('True if the team has declared the feature. Otherwise it was only seen in packets or reports.'),
  archived,
  archivedAt: orNull(time('Time when the feature was archived; `null` if it is not archived, or the time is unknown.')),
  permanent,
  snoozedUntil: orNull(time('Time until which the verdict is postponed.')),
  split,
  rollout,
  ...owned,
  stale: boolean(
    'True if the feature was neither seen nor declared for a long time. This field rests on silence alone; the verdict considers more evidence.',
  ),
  ...sight,
  createdAt: orNull(time('Time of the declaration.')),
  updatedAt: orNull(time('Time of the last change of the declaration.')),
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
  rollout: null,
  ...exampleOwned,
  owners: [...exampleOwned.owners],
  tags: [...exampleOwned.tags],
  stale: false,
  firstSeenAt: exampleTime,
  lastSeenAt: exampleTime,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const Feature = shape(
  'Feature',
  {
    ...fields,
    verdict: verdictKind('Kind of the verdict. The path `…/verdict` returns the reasons.'),
    verdictBasis,
    verdictSince: orNull(time('Time since which the verdict applies; `null` if unknown.')),
  },
  { ...example, verdict: 'in_use', verdictBasis: 'use', verdictSince: exampleTime },
);
export type Feature = Static<typeof Feature>;

/** Settings that are stored and returned without conversion. */
export const plainFeatureSettings = ['description', 'archived', 'permanent'] as const;
export type PlainFeatureSettings = StoredFields<Feature, typeof plainFeatureSettings>;

/** The settings of a feature without a declaration. */
export const plainFeatureDefaults: PlainFeatureSettings = { description: null, archived: false, permanent: false };

const VariantSight = Type.Object({ variant: text('Name of the variant.'), ...sight });

const EnvironmentSight = Type.Object({
  environment: text('Name of the environment.'),
  ...sight,
  variants: Type.Array(VariantSight, { description: 'Variants seen in the environment, by name.' }),
});

/** A feature with all its fields. Lists omit the long fields. */
export const FeatureDetail = shape(
  'FeatureDetail',
  {
    ...fields,
    code: list(FeatureCode, 'Places of the feature in the code, from the last scan of each repository.'),
    notes: list(Note, 'Notes of the team, by time.'),
    environments: list(EnvironmentSight, 'Environments in which the feature was seen.'),
    nearest: orNull(text('For an undeclared feature: the declared feature with the most similar name, if any.')),
  },
  {
    ...example,
    code: [getExample(FeatureCode)],
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
export type FeatureDetail = Static<typeof FeatureDetail>;

export const NewFeature = bodyShape(
  'NewFeature',
  { name: name(), description: Type.Optional(description) },
  { name: 'checkout', description: 'The new checkout' },
);

export const FeaturePatch = bodyShape(
  'FeaturePatch',
  { ...optional({ description, archived, permanent, snoozedUntil, split, rollout }), ...givenOwned },
  { archived: true },
);
export type FeaturePatch = Static<typeof FeaturePatch>;

const descriptionOption = option('description TEXT', 'Description');

export const featureOptions = {
  create: createFields(NewFeature, { name: null, description: descriptionOption }),
  update: createFields(FeaturePatch, {
    description: descriptionOption,
    archived: option('archived true|false', 'Archived: the team no longer uses it'),
    permanent: option('permanent true|false', 'Permanent: meant to stay'),
    snoozedUntil: option('snoozed-until TIME', 'Time until which the verdict is postponed', { as: 'time' }),
    split: null,
    rollout: null,
    owners: [
      option('owner OWNER', 'Owner: user:E-MAIL, team:TEAM, or another text; repeatable', { as: 'owner' }),
      option('no-owners', 'Remove all owners', { excludes: ['owner'], as: 'none' }),
    ],
    tags: [
      option('tag TAG', 'Tag of the feature; repeatable'),
      option('no-tags', 'Remove all tags', { excludes: ['tag'], as: 'none' }),
    ],
  }),
};
