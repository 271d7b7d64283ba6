import type { Static } from 'typebox';
import { count, listOf, oneOf, orNull, shape, text, time } from '../http/schema.ts';
import { exampleTime } from './answers.ts';

const exampleRefusal = {
  at: exampleTime,
  route: 'telemetry',
  transport: 'http',
  code: 'unknown_key',
  keyPrefix: 'fm_fe_000000',
  origin: 'https://shop.example',
  userAgent: 'Mozilla/5.0',
  environment: 'Production',
  count: 4,
} as const;

const UnattributedRefusal = shape(
  'UnattributedRefusal',
  {
    at: time('When it last happened.'),
    route: oneOf(['telemetry', 'usage', 'metrics', 'identities'], 'What it was.'),
    transport: oneOf(['http', 'grpc', 'grpc-web'], 'How it came.'),
    code: text('Why it was refused, as in `docs/errors.md`.'),
    keyPrefix: orNull(
      text(
        'The beginning of what was sent as a key; `null` when that does not begin like one of this service.',
      ),
    ),
    origin: orNull(text('The `Origin`.')),
    userAgent: orNull(text('The `User-Agent`.')),
    environment: orNull(text('The environment that was named.')),
    count: count('How often, since the kind was first seen.'),
  },
  exampleRefusal,
);

export const Unattributed = shape(
  'Unattributed',
  { items: listOf(UnattributedRefusal, 'At most 50 kinds, the latest first.') },
  { items: [exampleRefusal] },
);

export type UnattributedShown = Static<typeof Unattributed>;
export type UnattributedRefusalShown = Static<typeof UnattributedRefusal>;
