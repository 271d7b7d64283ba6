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

/** A browser, app or server that has asked for a feature. */
const Sender = shape(
  'Sender',
  {
    environment: text('Name of the environment in which it asked.'),
    name: text(
      'The browser, the app, or what a server calls itself. `__other__` stands for those beyond the limit.',
    ),
    version: orNull(text('Its version, as far as it says so.')),
    transport: oneOf(['http', 'grpc', 'grpc-web'], 'How it sends.'),
    route: oneOf(
      ['telemetry', 'usage', 'metrics'],
      'What it sends: packets, or reports of usage or metrics.',
    ),
    firstAt: time('When it first asked, to ten minutes.'),
    lastAt: time('When it last asked, to ten minutes.'),
  },
  exampleSender,
);

export type SenderShown = Static<typeof Sender>;

export const FeatureSenders = shape(
  'FeatureSenders',
  {
    items: listOf(Sender, 'The senders, those that asked last before the others.'),
    othersLeftOut: flag('Whether there were more senders than can be told apart.'),
  },
  { items: [exampleSender], othersLeftOut: false },
);

export type FeatureSendersShown = Static<typeof FeatureSenders>;

/** What can be said of a feature, from what was seen of it and what its team has declared. */
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

/** What a team can do next. */
const verdictActions = ['copy', 'snooze', 'permanent', 'archive', 'unarchive', 'declare'] as const;

export type VerdictAction = (typeof verdictActions)[number];

const Reason = Type.Object({
  text: text('A sentence. A time in it stands there exactly as in `at`, so that it can be shown otherwise.'),
  at: orNull(time('The time in the sentence, if it has one.')),
});

export const Verdict = shape(
  'Verdict',
  {
    feature: text('Name of the feature.'),
    kind: oneOf(
      verdictKinds,
      '`not_seen`: no sign of use, while senders kept reporting. `one_variant`: one variant only. `in_use`: still used. `archived_but_asked`: archived, but still asked for. `cannot_tell`: silence says nothing here, since nothing reports. `permanent` and `snoozed`: the team has said so. `new`: first seen or declared less than 7 days ago.',
    ),
    since: orNull(time('Since when that is so; `null` if that is not known.')),
    environments: listOf(text('Name of an environment.'), 'The environments of which it is said.'),
    reasons: listOf(Reason, 'Why, the most important first.'),
    actions: listOf(oneOf(verdictActions, 'Something to do.'), 'What can be done next, the first one best.'),
    senders: listOf(Sender, 'Up to 5 senders that asked for it last.'),
    declared: flag('Whether the team has declared it. A name that only senders know may be a typing error.'),
    nearest: orNull(
      text('For a feature that is not declared: the declared one whose name is most like it, if any is.'),
    ),
  },
  {
    feature: 'checkout',
    kind: 'one_variant',
    since: exampleTime,
    environments: ['Production', 'Staging'],
    reasons: [
      { text: `Only the variant on was given since ${exampleTime}.`, at: exampleTime },
      { text: '1.2M checks in 30 days, only on.', at: null },
    ],
    actions: ['copy', 'snooze', 'permanent', 'archive'],
    senders: [exampleSender],
    declared: true,
    nearest: null,
  },
);

export type VerdictShown = Static<typeof Verdict>;
