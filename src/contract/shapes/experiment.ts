import Type, { type Static } from 'typebox';
import { experimentDecisions } from '../experiment-state.ts';
import { ExperimentFigures, exampleFigures } from './experiment-figures.ts';
import { weights } from './feature.ts';
import {
  bodyShape,
  boolean,
  count,
  exampleTime,
  list,
  name,
  oneOf,
  optional,
  orNull,
  printable,
  type StoredFields,
  shape,
  Time,
  text,
  time,
} from './fields.ts';
import { createFields, envOption, newName, oneEnvOption, option } from './option.ts';
import { exampleOwned, Owner } from './owner.ts';

/** The states of an experiment, in the order in which lists show them. */
export const experimentStates = ['running', 'planned', 'finished', 'stopped'] as const;
export type ExperimentState = (typeof experimentStates)[number];

const line = (most: number, description: string) => Type.String({ pattern: `^${printable}{1,${most}}$`, description });

const direction = Type.Union([Type.Literal('up'), Type.Literal('down')], {
  description: 'Direction in which the metric improves.',
});

const metric = name('`used`, `viewed`, or the name of a declared counter that is reported by variant.');

const maxGuardrails = 5;

const Guardrail = Type.Object(
  {
    metric,
    direction,
    tolerated: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Tolerated worsening per check: 0.01 is one percentage point of `used` and `viewed`, or 0.01 of the unit of a counter.',
    }),
  },
  { additionalProperties: false },
);
export type Guardrail = Static<typeof Guardrail>;

const guardrails = Type.Array(Guardrail, {
  maxItems: maxGuardrails,
  description: 'Metrics that must not become worse.',
});

const hypothesis = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'Effect that the team expects, and the reason for it.',
});

const timeField = (description: string) => Type.String({ description, ...Time });

const plan = {
  name: line(120, 'Name of the experiment.'),
  hypothesis: Type.Optional(hypothesis),
  environment: text('Environment of the experiment.'),
  base: name('Variant that the others are compared with.'),
  split: Type.Optional(
    Type.Union([Type.Null(), weights], {
      description: 'Intended split of users. The default is the split that the feature has when the experiment ends.',
    }),
  ),
  startAt: Type.Optional(
    timeField(
      'Start of the experiment, at most 366 days from now; the default is now. The comparison covers whole UTC days from the start on.',
    ),
  ),
  endAt: Type.Optional(
    Type.Union([Type.Null(), timeField('Planned end.')], {
      description:
        'Planned end, at least 7 whole UTC days after the start; `null` if the planned number of users ends the experiment.',
    }),
  ),
  users: Type.Optional(
    Type.Union([Type.Null(), Type.Integer({ minimum: 100, maximum: 100_000_000 })], {
      description: 'Planned number of users of each variant; `null` if the planned end ends the experiment.',
    }),
  ),
  metric,
  direction: Type.Optional(direction),
  guardrails: Type.Optional(guardrails),
};

const examplePlan = {
  name: 'One page',
  hypothesis: 'People finish more orders when the basket is on one page',
  environment: 'Production',
  base: 'off',
  split: null,
  users: 4000,
  metric: 'used',
  direction: 'up' as const,
  guardrails: [{ metric: 'viewed', direction: 'up' as const, tolerated: 0.01 }],
};

export const NewExperiment = bodyShape(
  'NewExperiment',
  { feature: name('Feature of the experiment.'), ...plan },
  { feature: 'checkout', ...examplePlan },
);
export type NewExperiment = Static<typeof NewExperiment>;

export const ExperimentPatch = bodyShape(
  'ExperimentPatch',
  {
    ...optional(plan),
    stop: Type.Optional(line(500, 'Reason for stopping a running experiment. The experiment stops now.')),
  },
  { name: 'One page for everyone' },
);
export type ExperimentPatch = Static<typeof ExperimentPatch>;

export const experimentFilters = {
  environment: envOption('Environment of the experiment'),
  feature: option('feature NAME', 'Feature of the experiment'),
};

const planOptions = {
  hypothesis: option('hypothesis TEXT', 'Effect that you expect, and the reason'),
  environment: experimentFilters.environment,
  base: option('base VARIANT', 'Variant that the others are compared with'),
  split: null,
  startAt: option('start TIME', 'Start', { more: 'default: now', as: 'laterTime' }),
  endAt: option('end TIME', 'Planned end, at least 7 whole UTC days after the start', { as: 'laterTime' }),
  users: option('users N', 'Planned users of each variant'),
  metric: option('metric METRIC', 'used, viewed, or a declared counter'),
  direction: option('direction up|down', 'The better direction', { more: 'default: up' }),
  guardrails: option('guardrail-file FILE', 'File with a guardrail metric as JSON; repeatable', {
    as: 'jsonFile',
    file: true,
  }),
} as const;

export const experimentOptions = {
  create: createFields(NewExperiment, {
    name: null,
    feature: experimentFilters.feature,
    ...planOptions,
    environment: oneEnvOption('Environment of the experiment'),
  }),
  update: createFields(ExperimentPatch, {
    name: newName,
    ...planOptions,
    stop: option('stop REASON', 'Stop the experiment before its planned end, for this reason'),
  }),
};

const Progress = Type.Object({
  day: count('Number of the current day of the experiment, from 1; 0 before it has started.'),
  days: orNull(count('Planned number of whole UTC days.')),
  users: orNull(count('Number of users of the variant with the fewest users, if the plan has a number of users.')),
  text: text('The progress in words: `day 5 of 14`.'),
});

export const Experiment = shape(
  'Experiment',
  {
    id: text('Id of the experiment.'),
    feature: text('Feature of the experiment.'),
    owners: list(Owner, 'Owners of the feature.'),
    name: text('Name of the experiment.'),
    hypothesis: orNull(text('Effect that the team expects, and the reason.')),
    environment: orNull(text('Environment of the experiment; `null` if the environment was deleted.')),
    base: text('Variant that the others are compared with.'),
    split: Type.Union([Type.Null(), weights]),
    startAt: time('Start of the experiment.'),
    endAt: orNull(time('Planned end.')),
    users: orNull(count('Planned number of users of each variant.')),
    metric: text('Primary metric.'),
    direction: oneOf(['up', 'down'], 'Direction in which the metric improves.'),
    guardrails: list(Guardrail, 'Metrics that must not become worse.'),
    state: oneOf(experimentStates, 'State of the experiment.'),
    progress: Progress,
    finishedAt: orNull(time('Time when the result was frozen.')),
    stopped: orNull(text('Reason for stopping before the planned end.')),
    outcome: orNull(text('The frozen outcome; `null` until the experiment has ended.')),
    decision: orNull(
      oneOf(
        experimentDecisions,
        '`ship`: the result is better, and every guardrail is ok. `wait`: it is better, but a guardrail is unclear. `do_not_ship`: it is better, but a guardrail is worse. `keep_base`: it is worse. `repeat`: the result decides nothing. `null` until the experiment has ended.',
      ),
    ),
    verdict: orNull(text('The result and the decision in a sentence; `null` until the experiment has ended.')),
    by: text('Author: e-mail address of the user or name of the API key when the experiment was created.'),
    createdAt: time('Time of creation.'),
    updatedAt: time('Time of the last change.'),
  },
  {
    id: '1',
    feature: 'checkout',
    ...examplePlan,
    owners: [...exampleOwned.owners],
    startAt: '2026-02-02T00:00:00.000Z',
    endAt: '2026-02-16T00:00:00.000Z',
    state: 'running',
    progress: { day: 5, days: 14, users: 2440, text: 'day 5 of 14, 61% of 4,000 users per variant' },
    finishedAt: null,
    stopped: null,
    outcome: null,
    decision: null,
    verdict: null,
    by: 'ada@shop.example',
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
);
export type Experiment = Static<typeof Experiment>;
/** Settings that are stored and returned without conversion. */
export const plainPlanSettings = ['name', 'hypothesis', 'base', 'users', 'metric', 'direction', 'guardrails'] as const;
export type PlainPlanSettings = StoredFields<Experiment, typeof plainPlanSettings>;

export const plainPlanDefaults = {
  hypothesis: null,
  users: null,
  direction: 'up',
  guardrails: [],
} as const satisfies Partial<PlainPlanSettings>;

const DailyRates = Type.Object({
  variant: text('Name of the variant.'),
  values: list(
    Type.Unsafe<number | null>({ type: ['number', 'null'] }),
    'Value of the primary metric per check on each day; `null` for a day without checks.',
  ),
});

export const ExperimentResult = shape(
  'ExperimentResult',
  {
    state: oneOf(experimentStates, 'State of the experiment.'),
    frozen: boolean(
      'True if the result is final. A final result was computed when the experiment ended, and does not change.',
    ),
    ...ExperimentFigures.properties,
    daily: list(DailyRates, 'Values of the primary metric by day, beginning with the day `from`.'),
  },
  { state: 'finished', frozen: true, ...exampleFigures, daily: [{ variant: 'off', values: [0.2, 0.21] }] },
);
export type ExperimentResult = Static<typeof ExperimentResult>;

export const Power = shape(
  'Power',
  {
    rate: orNull(Type.Number({ description: 'Value of the metric per check in the last 28 days.' })),
    usersPerDay: Type.Number({ description: 'Mean number of users who are given the feature on a day.' }),
    points: list(
      Type.Unsafe<[days: number, difference: number]>({
        type: 'array',
        prefixItems: [Type.Integer(), Type.Number()],
        items: Type.Number(),
        minItems: 2,
        maxItems: 2,
      }),
      'Pairs `[days, difference]`. After this number of days, the experiment detects this difference per check with a probability of 80 %.',
    ),
    text: text('An example in words: `a difference of 2 percentage points is detectable in about 9 days`.'),
  },
  {
    rate: 0.2,
    usersPerDay: 1400,
    points: [
      [7, 0.026],
      [14, 0.018],
    ],
    text: 'a difference of 2 percentage points is detectable in about 9 days',
  },
);
export type Power = Static<typeof Power>;
