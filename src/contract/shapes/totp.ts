import type { Static } from 'typebox';
import { boolean, count, exampleTime, orNull, shape, time } from './fields.ts';

export const Totp = shape(
  'Totp',
  {
    enabled: boolean('Whether the user has an authenticator app.'),
    required: boolean('Whether a policy demands a second factor of the user.'),
    createdAt: orNull(time('Time when it was set up; `null` without one.')),
    lastUsedAt: orNull(time('Time of the last accepted code; `null` without one.')),
    recoveryCodes: count('Number of unused recovery codes.'),
  },
  { enabled: true, required: false, createdAt: exampleTime, lastUsedAt: exampleTime, recoveryCodes: 10 },
);
export type Totp = Static<typeof Totp>;
