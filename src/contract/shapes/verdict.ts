import Type, { type Static } from 'typebox';
import { senderRoutes, senderRouteText, transportNames } from '../message-routes.ts';
import { type ReasonCode, reasonCodes, verdictKinds, verdictRules } from '../verdicts.ts';
import { boolean, exampleTime, list, oneOf, orNull, shape, text, time } from './fields.ts';

const exampleSender = {
  environment: 'Production',
  name: 'Chrome',
  version: '131',
  transport: 'http',
  route: 'telemetry',
  firstAt: exampleTime,
  lastAt: exampleTime,
} as const;

/** A program (browser, app or server) that has checked a feature. */
const Sender = shape(
  'Sender',
  {
    environment: text('Name of the environment.'),
    name: text('Name of the browser, app or server. `__other__` stands for senders beyond the limit.'),
    version: orNull(text('Version, if known.')),
    transport: oneOf(transportNames, 'Transport.'),
    route: oneOf(senderRoutes, senderRouteText),
    firstAt: time('Start of the ten minutes in which the sender first checked the feature.'),
    lastAt: time('Start of the ten minutes in which the sender last checked the feature.'),
  },
  exampleSender,
);
export type Sender = Static<typeof Sender>;

export const FeatureSenders = shape(
  'FeatureSenders',
  {
    items: list(Sender, 'Senders, by time of the last check, the latest first.'),
    othersLeftOut: boolean('True if the list is incomplete because there were more senders than the limit.'),
  },
  { items: [exampleSender], othersLeftOut: false },
);
export type FeatureSenders = Static<typeof FeatureSenders>;

const verdictActions = ['copy', 'snooze', 'permanent', 'archive', 'unarchive', 'declare'] as const;

export type VerdictAction = (typeof verdictActions)[number];

const codes = Object.entries(reasonCodes).map(([code, states]) => `\`${code}\`: ${states}`);

export const Reason = Type.Object({
  code: oneOf(Object.keys(reasonCodes) as ReasonCode[], codes.join(' ')),
  text: text('The reason as a sentence. A time in the sentence is written like `at`, so that clients can replace it.'),
  at: orNull(time('The time in the sentence, if any.')),
  names: list(
    text('A name.'),
    'Names in the sentence. `code` determines their meaning. Names of senders include the version.',
  ),
});

const meanings = verdictKinds.map((kind) => `\`${kind}\`: ${verdictRules[kind].meaning}`);

export const verdictKind = (description: string) => oneOf(verdictKinds, description);

export const verdictBasis = oneOf(
  ['declaration', 'age', 'use', 'senders', 'silence'],
  'Evidence that the verdict rests on. `silence`: a sender that uses the feature might be switched off.',
);

export const staleAfterDays = Type.Number({
  minimum: 0,
  description: 'Number of days after which the rules consider a feature silent (`--stale-after`).',
});

export const Verdict = shape(
  'Verdict',
  {
    feature: text('Name of the feature.'),
    kind: verdictKind(`${meanings.join('. ')}.`),
    basis: verdictBasis,
    since: orNull(time('Time since which the verdict applies; `null` if unknown.')),
    staleAfterDays,
    environments: list(text('Name of an environment.'), 'Environments that the verdict is about.'),
    reasons: list(Reason, 'Reasons for the verdict, the most important first.'),
    actions: list(oneOf(verdictActions, 'Suggested action.'), 'Suggested actions, the best first.'),
    checksOnly: list(
      text('A source, such as Unleash.'),
      'Sources of the senders in these environments if no sender reports use and views; otherwise empty.',
    ),
    senders: list(Sender, 'The senders that checked the feature last, at most 5.'),
    declared: boolean('True if the team has declared the feature. An undeclared name might be a typing error.'),
    nearest: orNull(text('For an undeclared feature: the declared feature with the most similar name, if any.')),
  },
  {
    feature: 'checkout',
    kind: 'one_variant',
    basis: 'use',
    since: exampleTime,
    staleAfterDays: 30,
    environments: ['Production', 'Staging'],
    reasons: [
      {
        code: 'only_variant',
        text: `Only the variant on has been served since ${exampleTime}, in Production and Staging.`,
        at: exampleTime,
        names: ['on'],
      },
      { code: 'checks', text: '1.2M checks in the last 30 days: all of them on.', at: null, names: ['on'] },
    ],
    actions: ['copy', 'snooze', 'permanent', 'archive'],
    checksOnly: [],
    senders: [exampleSender],
    declared: true,
    nearest: null,
  },
);
export type Verdict = Static<typeof Verdict>;
