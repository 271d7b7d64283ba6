import { keyScopes } from '../key-scopes.ts';
import { roles } from '../roles.ts';
import { ApiKeyPatch, NewApiKey } from '../shapes/api-key.ts';
import { NewResetLink } from '../shapes/invitation.ts';
import { NewSignInClient } from '../shapes/sign-in-client.ts';
import { NewTeam, TeamPatch } from '../shapes/team.ts';
import { MemberPut, NewUser, UserPatch } from '../shapes/user.ts';
import {
  apiKeyColumns,
  auditColumns,
  deletionColumns,
  memberColumns,
  signInClientColumns,
  teamColumns,
  userColumns,
} from './columns.ts';
import { fieldsOf, flag, laterForms, rangeFlags, teamFlag } from './field.ts';
import type { Resource } from './resource.ts';

const newName = flag('name NAME', 'New name');
const role = flag('role ROLE', `Role: ${roles.join(', ')}`);
const newRole = { ...role, more: 'default: User' };
const plan = flag('plan PLAN', 'Plan: free, team or enterprise');

const secondFactor = flag('second-factor RULE', 'Who needs a second factor: optional, admins or all');

export const teams: Resource = {
  name: 'teams',
  one: 'team',
  many: 'teams',
  collection: 'teams',
  key: 'id',
  alias: 'name',
  single: true,
  columns: teamColumns,
  create: {
    operand: { name: 'NAME', description: 'Team name' },
    fields: fieldsOf(NewTeam, { name: null, plan }),
  },
  update: { fields: fieldsOf(TeamPatch, { name: newName, plan, secondFactor }) },
  remove: { loses: 'Its API keys and sign-in clients are deleted too' },
};

export const members: Resource = {
  name: 'members',
  one: 'member',
  many: 'members',
  within: 'team',
  collection: 'members',
  key: 'id',
  alias: 'email',
  single: true,
  columns: memberColumns,
  create: {
    word: 'add',
    operand: {
      name: 'USER',
      description: 'User: id, or e-mail address if you share a team',
      as: 'userId',
    },
    put: true,
    fields: fieldsOf(MemberPut, {
      role: {
        ...role,
        description: `Role in the team: ${roles.join(', ')}`,
        more: 'default: as in other teams',
      },
    }),
  },
  remove: { word: 'remove', loses: 'A user in no other team is deleted' },
};

const secretFile = { file: true, as: 'secretFile' } as const;

export const users: Resource = {
  name: 'users',
  one: 'user',
  many: 'users',
  collection: 'users',
  key: 'id',
  alias: 'email',
  single: true,
  columns: userColumns,
  create: {
    operand: { name: 'EMAIL', description: 'E-mail address to sign in with', field: 'email' },
    fields: fieldsOf(NewUser, {
      email: null,
      name: flag('name NAME', 'Full name'),
      role: newRole,
      teams: { ...teamFlag, description: 'Team: id or name; repeatable' },
      password: flag('password-file FILE', 'File with the password on its first line; - is standard input', {
        ...secretFile,
        more: 'default: the link of an invitation is printed',
      }),
    }),
    secret: { field: 'invitation' },
  },
  update: {
    fields: fieldsOf(UserPatch, {
      name: newName,
      email: flag('email EMAIL', 'New e-mail address to sign in with'),
      role,
      primaryTeam: flag('primary-team TEAM', 'Primary team: id or name', { as: 'teamId' }),
      password: flag(
        'password-file FILE',
        'File with your new password on its first line; - is standard input',
        secretFile,
      ),
      currentPassword: flag(
        'current-password-file FILE',
        'File with your current password on its first line',
        { ...secretFile, more: 'required to change your own password or e-mail address' },
      ),
    }),
  },
  actions: [
    {
      word: 'reset-link',
      summary: 'Print a link with which a user accepts an invitation, or chooses another password',
      path: ['reset-link'],
      fields: fieldsOf(NewResetLink, {
        endSessions: flag('end-sessions', 'End all sessions and the password now, for example after a leak', {
          as: 'set',
        }),
      }),
      secret: { field: 'url' },
    },
    {
      word: 'withdraw-link',
      summary: 'Withdraw the invitation or the reset link of a user',
      path: ['reset-link'],
      method: 'DELETE',
    },
  ],
  remove: { loses: 'All sessions and tokens of the user are revoked' },
};

const expiresAt = flag('expires TIME', `Expiry: ${laterForms}`, {
  as: 'laterTime',
  more: 'default: never; an empty value removes it',
});
const publicKeyFile = flag(
  'public-key-file FILE',
  'File with a public key as JWK, used in place of a secret',
  {
    file: true,
    as: 'jsonFile',
    more: 'repeatable',
  },
);

const scopes = flag('scope SCOPE', `Scope: ${keyScopes.join(', ')}; repeatable`);
const applications = flag('app APP', 'Application that it is bound to: id or name; repeatable', {
  as: 'applicationId',
  more: 'default: the whole team',
});
const trustFile = flag(
  'trust-file FILE',
  'File with a trust in workload tokens as JSON, used in place of a secret',
  {
    file: true,
    as: 'jsonFile',
  },
);

export const apiKeys: Resource = {
  name: 'api-keys',
  one: 'API key',
  many: 'API keys',
  within: 'team',
  collection: 'api-keys',
  key: 'clientId',
  alias: 'name',
  columns: apiKeyColumns,
  create: {
    operand: { name: 'NAME', description: 'API key name' },
    fields: fieldsOf(NewApiKey, {
      name: null,
      role: { ...role, more: 'stands for its scope; default: User' },
      scopes,
      applications,
      expiresAt,
      publicKeys: publicKeyFile,
      trust: trustFile,
    }),
    secret: { field: 'clientSecret' },
  },
  update: {
    fields: fieldsOf(ApiKeyPatch, {
      name: newName,
      role,
      scopes,
      applications,
      expiresAt,
      publicKeys: publicKeyFile,
      trust: trustFile,
    }),
  },
  actions: [
    {
      word: 'rotate',
      summary: 'Rotate the secret of an API key; the previous one is accepted for a day',
      path: ['secret'],
      secret: { field: 'clientSecret' },
    },
  ],
  remove: { loses: 'Its tokens are refused from then on' },
};

export const clients: Resource = {
  name: 'clients',
  one: 'sign-in client',
  many: 'sign-in clients',
  within: 'team',
  collection: 'clients',
  key: 'clientId',
  alias: 'name',
  columns: signInClientColumns,
  create: {
    operand: { name: 'NAME', description: 'Client name, shown on the sign-in page' },
    fields: fieldsOf(NewSignInClient, {
      name: null,
      redirectUris: flag('redirect-uri URI', 'Redirect URI, matched exactly; repeatable'),
      type: flag('type TYPE', "public: runs on its users' devices; confidential: can keep a secret", {
        more: 'default: public',
        default: 'public',
      }),
      publicKeys: publicKeyFile,
    }),
    secret: { field: 'clientSecret' },
  },
  remove: { loses: 'Users who signed in to it are signed out' },
};

export const audit: Resource = {
  name: 'audit',
  one: 'entry of the audit log',
  many: 'entries of the audit log',
  collection: 'audit',
  key: 'id',
  defaultLimit: 100,
  filters: [
    flag('action ACTION', 'Action, such as application.created, or a prefix of actions: application'),
    flag('actor WHO', 'Actor: e-mail address or id of a user, or client id of an API key', { as: 'userId' }),
    flag('app APP', 'Application: id or name', { field: 'application', as: 'applicationId' }),
    ...rangeFlags('the first entry'),
  ],
  columns: auditColumns,
};

export const deletions: Resource = {
  name: 'deletions',
  one: 'deletion',
  many: 'pending deletions',
  collection: 'deletions',
  key: 'requestedAt',
  columns: deletionColumns,
};
