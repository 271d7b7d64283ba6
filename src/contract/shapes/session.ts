import Type, { type Static } from 'typebox';
import { exampleTime, flag, listOf, shape, text, time } from './fields.ts';

const exampleSession = 'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2';
const exampleSignIn = '5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5';

const sessionFields = {
  id: text('Its id; the `sid` of its tokens.'),
  clientId: text('The client that the user signed in to.'),
  clientName: text('The name of the client.'),
  createdAt: time('When it began.'),
  lastUsedAt: time('When it was last refreshed; of the console, when it was last used, to five minutes.'),
  expiresAt: time('When it ends unless it is used before.'),
};

const exampleOfSession = {
  id: exampleSession,
  clientId: 'flagmeter-cli',
  clientName: 'flagmeter command line',
  createdAt: exampleTime,
  lastUsedAt: exampleTime,
  expiresAt: exampleTime,
};

export const SignInSessions = shape(
  'SignInSessions',
  {
    signIn: text('Id of the sign-in: a user has typed their password once, in one browser.'),
    current: flag('Whether this request comes from one of its sessions.'),
    startedAt: time('When the user signed in.'),
    lastUsedAt: time('When one of its sessions was last used.'),
    sessions: listOf(Type.Object(sessionFields), 'What the sign-in gave; the last used one comes first.'),
  },
  {
    signIn: exampleSignIn,
    current: true,
    startedAt: exampleTime,
    lastUsedAt: exampleTime,
    sessions: [exampleOfSession],
  },
);
export type SignInSessions = Static<typeof SignInSessions>;

export const SessionList = Type.Object(
  { items: listOf(SignInSessions) },
  { example: { items: [(SignInSessions as unknown as { example: SignInSessions }).example] } },
);
