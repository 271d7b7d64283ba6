import type { Static } from 'typebox';
import Type from 'typebox';
import { factors } from '../sign-in.ts';
import { boolean, exampleTime, getExample, list, oneOf, orNull, shape, text, time } from './fields.ts';

const exampleSession = 'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2';
const exampleSignIn = '5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5';

const sessionFields = {
  id: text('Id of the session, which its tokens contain as `sid`.'),
  clientId: text('Client that the user signed in to.'),
  clientName: text('Name of the client.'),
  createdAt: time('Creation time.'),
  lastUsedAt: time('Time of the last refresh. For a session of the console: time of the last use, to five minutes.'),
  expiresAt: time('Time when the session expires unless the user uses the session before.'),
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
    signIn: text('Id of the sign-in of a user in a browser.'),
    current: boolean('True if this request belongs to a session of the sign-in.'),
    startedAt: time('Time of the sign-in.'),
    factors: list(oneOf(factors, 'A factor.'), 'Factors of the sign-in, in the order in which the user proved them.'),
    provider: orNull(text('Id of the identity provider of the sign-in; `null` if no provider was used.')),
    device: text('Browser and platform, such as `Firefox 140 on Linux`; empty if unknown.'),
    userAgent: text('`User-Agent` of the browser; empty if unknown.'),
    lastUsedAt: time('Time of the last use of any session of the sign-in.'),
    sessions: list(Type.Object(sessionFields), 'Sessions of the sign-in, the most recently used first.'),
  },
  {
    signIn: exampleSignIn,
    current: true,
    startedAt: exampleTime,
    factors: ['password', 'totp'],
    provider: null,
    device: 'Firefox 140 on Linux',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    lastUsedAt: exampleTime,
    sessions: [exampleOfSession],
  },
);
export type SignInSessions = Static<typeof SignInSessions>;

export const SessionList = Type.Object(
  { items: list(SignInSessions) },
  { example: { items: [getExample(SignInSessions)] } },
);
