import type { Static } from 'typebox';
import { boolean, count, exampleTime, orNull, shape, time } from './fields.ts';

export const Totp = shape(
  'Totp',
  {
    enabled: boolean('True if the user has an authenticator app.'),
    required: boolean('True if a policy requires the user to have a second factor.'),
    createdAt: orNull(time('Time when the app was set up; `null` if the user has no app.')),
    lastUsedAt: orNull(time('Time of the last accepted code; `null` if no code was ever accepted.')),
    recoveryCodes: count('Number of unused recovery codes.'),
  },
  { enabled: true, required: false, createdAt: exampleTime, lastUsedAt: exampleTime, recoveryCodes: 10 },
);
export type Totp = Static<typeof Totp>;
