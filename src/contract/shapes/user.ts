import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { permissions, type Role, roles } from '../roles.ts';
import { factors, passwordLength } from '../sign-in.ts';
import { bodyShape, exampleIds, exampleTime, list, name, oneOf, orNull, shape, text, time } from './fields.ts';
import { Invitation, InvitationShownOnce, newInvitation } from './invitation.ts';
import { createFields, newName, option, teamOption } from './option.ts';

const meanings = roles.map((role) => `${role}: ${permissions[role]}.`).join(' ');

export const role = roleField(`Role. ${meanings}`);

function roleField(description: string) {
  const literals = roles.map((each) => Type.Literal(each));
  return Type.Unsafe<Role>(Type.Union(literals, { description }));
}

const email = Type.String({ description: 'E-mail address for signing in.', documented: { format: 'email' } });

const { minCharacters, maxBytes } = passwordLength;

const password = Type.String({
  description: `Password of ${minCharacters} characters to ${maxBytes} bytes. It must not be a common password, and must not contain the e-mail address, the part before its @, or the name of this service.`,
  documented: { format: 'password', minLength: minCharacters, maxLength: maxBytes },
});

/** An unused link of the user: an invitation or a link to choose another password. */
function invitationField<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()], {
    description: 'Unused link of the user, which can have expired; `null` if the user has no link.',
  });
}

const fields = {
  id: text('Id of the user. Anyone who knows the id can add the user to a team.'),
  email: orNull(text('E-mail address for signing in; `null` for an API key.')),
  name: name(),
  role: roleField(`Default role, for teams in which the user has no specific role. ${meanings}`),
  teams: list(Type.String(), 'Ids of the teams that the user shares with you.'),
  teamRoles: Type.Record(Type.String(), role, {
    description: 'Roles in the teams that the user shares with you, by team id.',
  }),
  primaryTeam: orNull(text('Id of the default team; `null` if you are not in that team.')),
  invitation: invitationField(Invitation),
  createdAt: time('Creation time.'),
  updatedAt: time('Time of the last change.'),
};

const example = {
  id: exampleIds.user,
  email: 'ada@shop.example',
  name: 'Ada',
  role: 'User' as const,
  teams: [exampleIds.team],
  teamRoles: { [exampleIds.team]: 'User' as const },
  primaryTeam: exampleIds.team,
  invitation: null,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const User = shape('User', fields, example);
export type User = Static<typeof User>;

const toAdmins = 'Only Admins of the team and the user read this; `null` for other readers';

export const Member = shape(
  'Member',
  {
    ...fields,
    role: roleField(`Role in the team. ${meanings}`),
    joinedAt: time(
      'Time when the user joined the team. Earlier releases did not record this time, so their members have the creation time of the user.',
    ),
    lastSignInAt: orNull(time(`Time of the last complete sign-in. ${toAdmins}, and until a sign-in is recorded.`)),
    secondFactors: orNull(list(oneOf(factors, 'A factor.'), `Second factors that the user has set up. ${toAdmins}.`)),
  },
  { ...example, joinedAt: exampleTime, lastSignInAt: exampleTime, secondFactors: ['totp' as const] },
);
export type Member = Static<typeof Member>;

export const MemberPut = bodyShape(
  'MemberPut',
  {
    role: Type.Optional(
      roleField(
        `Role in the team. By default, a member keeps the current role, and a new member has the default role of the user. ${meanings}`,
      ),
    ),
  },
  { role: 'User' },
);

export const memberOptions = createFields(MemberPut, {
  role: option('role ROLE', `Role in the team: ${roles.join(', ')}`, { more: 'default: as in other teams' }),
});

export const UserShownOnce = shape(
  'UserShownOnce',
  { ...fields, invitation: invitationField(InvitationShownOnce) },
  { ...example, invitation: newInvitation },
);
export type UserShownOnce = Static<typeof UserShownOnce>;

export const NewUser = bodyShape(
  'NewUser',
  {
    email,
    name: name(),
    role: Type.Optional(role),
    teams: Type.Optional(
      list(
        Type.String(),
        'Ids of teams that the user joins. The caller must be in these teams. The default is your primary team.',
      ),
    ),
    password: Type.Optional(password),
  },
  { email: 'ada@shop.example', name: 'Ada', role: 'User' },
);

export const UserPatch = bodyShape(
  'UserPatch',
  {
    email: Type.Optional(email),
    name: Type.Optional(name()),
    role: Type.Optional(role),
    primaryTeam: Type.Optional(text('Id of one of the teams of the user.')),
    password: Type.Optional(password),
    currentPassword: Type.Optional(
      Type.String({
        description: 'Your current password, required for changing your password or e-mail address.',
        documented: { format: 'password' },
      }),
    ),
  },
  { name: 'Ada Lovelace' },
);
export type UserPatch = Static<typeof UserPatch>;

/** The option `--role` of commands for users and API keys. */
export const roleOption = option('role ROLE', `Role: ${roles.join(', ')}`);
const passwordFile = { file: true, as: 'secretFile' } as const;

export const userOptions = {
  create: createFields(NewUser, {
    email: null,
    name: option('name NAME', 'Full name'),
    role: { ...roleOption, more: 'default: User' },
    teams: { ...teamOption, description: 'Team: id or name; repeatable' },
    password: option('password-file FILE', 'File with the password on its first line; - is standard input', {
      ...passwordFile,
      more: 'default: the command prints the link of an invitation',
    }),
  }),
  update: createFields(UserPatch, {
    name: newName,
    email: option('email EMAIL', 'New e-mail address to sign in with'),
    role: roleOption,
    primaryTeam: option('primary-team TEAM', 'Primary team: id or name', { as: 'teamId' }),
    password: option(
      'password-file FILE',
      'File with your new password on its first line; - is standard input',
      passwordFile,
    ),
    currentPassword: option('current-password-file FILE', 'File with your current password on its first line', {
      ...passwordFile,
      more: 'required to change your own password or e-mail address',
    }),
  }),
};
