import type { Static } from 'typebox';
import { flag, listOf, oneOf, orNull, shape, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';

export const exampleSender = {
  environment: 'Production',
  name: 'Chrome',
  version: '131',
  transport: 'http',
  route: 'telemetry',
  firstAt: exampleTime,
  lastAt: exampleTime,
} as const;

/** A browser, app or server that has asked for a feature. */
export const Sender = shape(
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
