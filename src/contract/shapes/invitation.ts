import Type, { type Static } from 'typebox';
import { bodyShape, boolean, exampleTime, oneOf, shape, text, time } from './fields.ts';
import { createFields, option } from './option.ts';

/** Purposes of a link: a new user accepts an invitation, or an existing user chooses another password. */
const linkPurposes = ['invitation', 'reset-link'] as const;

export type LinkPurpose = (typeof linkPurposes)[number];

const fields = {
  purpose: oneOf(
    linkPurposes,
    '`invitation` until the user has accepted the invitation. From then on `reset-link`, with which the user chooses another password.',
  ),
  expiresAt: time('Time until which the link is valid.'),
};

const example = { purpose: 'invitation' as const, expiresAt: exampleTime };

export const Invitation = shape('Invitation', fields, example);
export type Invitation = Static<typeof Invitation>;

export const newInvitation = {
  ...example,
  url: 'https://auth.example/connect/invitation#Zm9yIHRoZSB1c2VyIG9ubHksIHRoaXJ0eS10d28gYg',
};

export const InvitationShownOnce = shape(
  'InvitationShownOnce',
  {
    ...fields,
    url: text(
      'The link for the user, which works once and is not shown again. The fragment of the link contains a secret.',
    ),
  },
  newInvitation,
);
export type InvitationShownOnce = Static<typeof InvitationShownOnce>;

export const NewResetLink = bodyShape(
  'NewResetLink',
  {
    endSessions: Type.Optional(
      boolean(
        'True to end all sessions and invalidate the password of the user now, for example after a leak. By default, both remain valid until the user uses the link.',
      ),
    ),
  },
  { endSessions: true },
);

export const resetLinkOptions = createFields(NewResetLink, {
  endSessions: option('end-sessions', 'End all sessions and invalidate the password now, for example after a leak', {
    as: 'set',
  }),
});
