import Type, { type Static } from 'typebox';
import { exampleTime, flag, listOf, oneOf, orNull, shape, text, time } from './fields.ts';

const exampleSender = {
  environment: 'Production',
  name: 'Chrome',
  version: '131',
  transport: 'http',
  route: 'telemetry',
  firstAt: exampleTime,
  lastAt: exampleTime,
} as const;

/** A browser, app or server that has checked a feature. */
const Sender = shape(
  'Sender',
  {
    environment: text('Name of the environment.'),
    name: text('Name of the browser, app or server. `__other__` stands for those beyond the limit.'),
    version: orNull(text('Version, if known.')),
    transport: oneOf(['http', 'grpc', 'grpc-web'], 'Transport.'),
    route: oneOf(
      ['telemetry', 'usage', 'metrics'],
      'Kind of its requests: packets, usage reports or metrics reports.',
    ),
    firstAt: time('Time of its first check, to ten minutes.'),
    lastAt: time('Time of its last check, to ten minutes.'),
  },
  exampleSender,
);
export type Sender = Static<typeof Sender>;

export const FeatureSenders = shape(
  'FeatureSenders',
  {
    items: listOf(Sender, 'Senders, by time of the last check, the latest first.'),
    othersLeftOut: flag('Whether there were more senders than the limit.'),
  },
  { items: [exampleSender], othersLeftOut: false },
);
export type FeatureSenders = Static<typeof FeatureSenders>;

/** The kinds of verdicts, which follow from the use of a feature and its declaration. */
export const verdictKinds = [
  'not_seen',
  'one_variant',
  'in_use',
  'archived_but_asked',
  'cannot_tell',
  'permanent',
  'snoozed',
  'new',
] as const;

export type VerdictKind = (typeof verdictKinds)[number];

/** The actions that a verdict suggests. */
const verdictActions = ['copy', 'snooze', 'permanent', 'archive', 'unarchive', 'declare'] as const;

export type VerdictAction = (typeof verdictActions)[number];

const Reason = Type.Object({
  text: text('A sentence. A time in it has the form of `at`, so that clients can replace it.'),
  at: orNull(time('The time in the sentence, if any.')),
});

export const Verdict = shape(
  'Verdict',
  {
    feature: text('Name of the feature.'),
    kind: oneOf(
      verdictKinds,
      '`not_seen`: no sign of use while senders kept reporting. `one_variant`: a single variant in use. `in_use`: still used. `archived_but_asked`: archived, but still checked. `cannot_tell`: no sender reports, so silence proves nothing. `permanent` and `snoozed`: set by the team. `new`: first seen or declared less than 7 days ago.',
    ),
    since: orNull(time('Start of this state; `null` if unknown.')),
    environments: listOf(text('Name of an environment.'), 'Environments that the verdict is about.'),
    reasons: listOf(Reason, 'Reasons, the most important first.'),
    actions: listOf(oneOf(verdictActions, 'Suggested action.'), 'Suggested actions, the best first.'),
    senders: listOf(Sender, 'The last senders that checked it, up to 5.'),
    declared: flag('Whether the team has declared it. An undeclared name may be a typing error.'),
    nearest: orNull(
      text('For an undeclared feature: the declared feature with the most similar name, if any.'),
    ),
  },
  {
    feature: 'checkout',
    kind: 'one_variant',
    since: exampleTime,
    environments: ['Production', 'Staging'],
    reasons: [
      { text: `Only the variant on has been served since ${exampleTime}.`, at: exampleTime },
      { text: '1.2M checks in 30 days, only on.', at: null },
    ],
    actions: ['copy', 'snooze', 'permanent', 'archive'],
    senders: [exampleSender],
    declared: true,
    nearest: null,
  },
);
export type Verdict = Static<typeof Verdict>;
