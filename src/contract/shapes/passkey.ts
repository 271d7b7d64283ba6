import Type, { type Static } from 'typebox';
import { bodyShape, boolean, exampleTime, getExample, list, name, orNull, shape, text, time } from './fields.ts';

export const Passkey = shape(
  'Passkey',
  {
    id: text('Id of the passkey: the SHA-256 (hex) of its credential id.'),
    name: name(),
    backedUp: boolean('True if the provider of the passkey has a copy, so that the passkey outlives its device.'),
    createdAt: time('Creation time.'),
    lastUsedAt: orNull(time('Time of the last sign-in with the passkey; `null` if the passkey was never used.')),
  },
  {
    id: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
    name: 'iCloud Keychain',
    backedUp: true,
    createdAt: exampleTime,
    lastUsedAt: null,
  },
);
export type Passkey = Static<typeof Passkey>;

export const PasskeyList = Type.Object(
  { items: list(Passkey, 'The passkeys, the oldest first.') },
  { example: { items: [getExample(Passkey)] } },
);

export const PasskeyPatch = bodyShape('PasskeyPatch', { name: name() }, { name: 'Laptop' });
