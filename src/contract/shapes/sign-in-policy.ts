import Type, { type Static } from 'typebox';
import { bodyShape, exampleIds, list, optional, shape, text } from './fields.ts';

export const secondFactor = Type.Union([Type.Literal('optional'), Type.Literal('admins'), Type.Literal('all')], {
  description:
    'Users who must prove a second factor after the password. `optional`: users who have set up a second factor. `admins`: these users and all Admins. `all`: all users. The strictest rule of the installation and of the teams of a user applies.',
});

export type SecondFactorRule = Static<typeof secondFactor>;

const passwords = Type.Union([Type.Literal('everyone'), Type.Literal('break-glass')], {
  description:
    'Users who may sign in with a password: everyone, or only the users in `breakGlass`, for example while the identity provider is down.',
});

const fields = {
  secondFactor,
  passwords,
  breakGlass: list(Type.String(), 'Ids of the users who may always sign in with a password.'),
  domains: list(
    Type.Object(
      {
        domain: text('Domain of e-mail addresses, such as `shop.example`.'),
        providerId: text('Id of the identity provider that users of the domain must sign in with.'),
      },
      { additionalProperties: false },
    ),
    'Domains whose users must sign in with an identity provider.',
  ),
};

const example = {
  secondFactor: 'admins' as const,
  passwords: 'everyone' as const,
  breakGlass: [exampleIds.user],
  domains: [],
};

export const SignInPolicy = shape('SignInPolicy', fields, example);
export type SignInPolicy = Static<typeof SignInPolicy>;

export const SignInPolicyPatch = bodyShape('SignInPolicyPatch', optional(fields), { secondFactor: 'admins' });
export type SignInPolicyPatch = Static<typeof SignInPolicyPatch>;
