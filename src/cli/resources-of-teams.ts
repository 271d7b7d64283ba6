import type { Flag } from './command.ts';
import { createdAt, id, name } from './common-columns.ts';
import { rangeFlags, teamFlag } from './common-flags.ts';
import { column, cut } from './print.ts';
import type { Column, Filter, Resource } from './resource.ts';
import { fieldsOf } from './send.ts';

const email = column('E-MAIL', 'email', cut);

const role: Flag = {
  name: 'role',
  value: 'ROLE',
  values: ['Admin', 'User'],
  description: 'What it may do: Admin or User',
};
const newRole: Flag = { ...role, more: 'default: User' };

const plan: Flag = {
  name: 'plan',
  value: 'PLAN',
  values: ['free', 'team', 'enterprise'],
  description: 'What it may have: free, team or enterprise',
};

export const teams: Resource = {
  name: 'teams',
  one: 'team',
  many: 'teams',
  collection: 'teams',
  key: 'id',
  alias: 'name',
  single: true,
  columns: [id, name, column('PLAN', 'plan'), createdAt],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [plan],
    body: (given) => ({ name: given.operand, plan: given.value('plan') }),
  },
  update: {
    flags: [{ name: 'name', value: 'NAME', description: 'Another name' }, plan],
    body: (given) => ({ name: given.value('name'), plan: given.value('plan') }),
  },
  remove: { loses: 'its API keys and sign-in clients' },
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
  columns: [email, name, column('ROLE', 'role'), id],
  create: {
    word: 'add',
    operand: { name: 'USER', description: 'User: its id, or its e-mail address when you share a team' },
    flags: [],
    putAt: ({ operand }, { userId }) => (operand.includes('@') ? userId(operand) : operand),
  },
  remove: { word: 'remove', loses: 'who is in no other team is deleted' },
};

export const users: Resource = {
  name: 'users',
  one: 'user',
  many: 'users',
  collection: 'users',
  key: 'id',
  alias: 'email',
  single: true,
  columns: [email, name, column('ROLE', 'role'), id, column('TEAMS', 'teams')],
  create: {
    operand: { name: 'EMAIL', description: 'E-mail address to sign in with' },
    flags: [
      { name: 'name', value: 'NAME', required: true, description: 'Full name' },
      newRole,
      { ...teamFlag, many: true, description: 'Team: its id or its name; once for each' },
      {
        name: 'password-file',
        value: 'FILE',
        file: true,
        description: 'First line is the password; - is standard input',
        more: 'default: a password is made and printed',
      },
    ],
    body: async (given, { teamId, secretFile }) => ({
      email: given.operand,
      name: given.value('name'),
      role: given.value('role'),
      teams: given.has('team') ? await Promise.all(given.all('team').map(teamId)) : undefined,
      password: secretFile('password-file'),
    }),
    secretOf: ({ password }) => (password === undefined ? undefined : 'password'),
  },
  update: {
    flags: [
      { name: 'name', value: 'NAME', description: 'Another name' },
      { name: 'email', value: 'EMAIL', description: 'Another e-mail address to sign in with' },
      role,
      { name: 'primary-team', value: 'TEAM', description: 'Primary team: its id or its name' },
      {
        name: 'password-file',
        value: 'FILE',
        file: true,
        description: 'First line is the new password; - is standard input',
      },
      {
        name: 'current-password-file',
        value: 'FILE',
        file: true,
        description: 'First line is your password as it is now',
        more: 'needed for your own password and e-mail address',
      },
    ],
    body: async (given, { teamId, secretFile }) => {
      const team = given.value('primary-team');
      return {
        name: given.value('name'),
        email: given.value('email'),
        role: given.value('role'),
        primaryTeam: team === undefined ? undefined : await teamId(team),
        password: secretFile('password-file'),
        currentPassword: secretFile('current-password-file'),
      };
    },
  },
  remove: { loses: 'all sessions and tokens of the user' },
};

export const apiKeys: Resource = {
  name: 'api-keys',
  one: 'API key',
  many: 'API keys',
  within: 'team',
  collection: 'api-keys',
  key: 'clientId',
  alias: 'name',
  columns: [column('CLIENT ID', 'clientId'), name, column('ROLE', 'role'), createdAt],
  create: {
    operand: { name: 'NAME', description: 'Name to know it by' },
    flags: [newRole],
    body: (given) => ({ name: given.operand, role: given.value('role') }),
    secretOf: () => 'clientSecret',
  },
  remove: { loses: 'its tokens are refused from then on' },
};

export const clients: Resource = {
  name: 'clients',
  one: 'sign-in client',
  many: 'sign-in clients',
  within: 'team',
  collection: 'clients',
  key: 'clientId',
  alias: 'name',
  columns: [
    column('CLIENT ID', 'clientId'),
    name,
    column('TYPE', 'type'),
    column('REDIRECT URIS', 'redirectUris', cut),
  ],
  create: {
    operand: { name: 'NAME', description: 'Its name, which the sign-in page shows' },
    flags: [
      {
        name: 'redirect-uri',
        value: 'URI',
        many: true,
        required: true,
        description: 'Address to return to after signing in, matched exactly; once for each',
      },
      {
        name: 'type',
        value: 'TYPE',
        values: ['public', 'confidential'],
        description: 'public: it runs on the machines of its users; confidential: it can keep a secret',
        more: 'default: public',
      },
    ],
    body: (given) => ({
      name: given.operand,
      type: given.value('type') ?? 'public',
      redirectUris: given.all('redirect-uri'),
    }),
    secretOf: ({ clientSecret }) => (clientSecret === undefined ? undefined : 'clientSecret'),
  },
  remove: { loses: 'whoever has signed in to it is signed out' },
};

/** A column of what a field of a field has. */
function within(
  field: string,
  title: string,
  inner: string,
  more: Omit<Column, 'title' | 'of'> = {},
): Column {
  return { title, ...more, of: (item) => fieldsOf(item[field])[inner] };
}

function timeFilter(flag: Flag): Filter {
  return { ...flag, read: (value, { time }) => time(value, flag.name) };
}

export const audit: Resource = {
  name: 'audit',
  one: 'entry of the audit log',
  many: 'entries of the audit log',
  collection: 'audit',
  key: 'id',
  usualMost: 100,
  filters: [
    {
      name: 'action',
      value: 'ACTION',
      description: 'Only this action, such as application.created, or a prefix: application',
    },
    {
      name: 'actor',
      value: 'WHO',
      description: 'Only what was done by this user (e-mail address or id) or API key',
      read: (value, { userId }) => (value.includes('@') ? userId(value) : value),
    },
    ...rangeFlags('the beginning').map(timeFilter),
  ],
  columns: [
    column('AT', 'at'),
    column('ACTION', 'action'),
    within('actor', 'BY', 'name', cut),
    within('target', 'TO', 'name', cut),
    within('actor', 'FROM', 'address'),
  ],
};

export const deletions: Resource = {
  name: 'deletions',
  one: 'deletion',
  many: 'deletions that are still being carried out',
  collection: 'deletions',
  key: 'requestedAt',
  columns: [
    column('DELETED', 'requestedAt'),
    within('target', 'TYPE', 'type'),
    within('target', 'NAME', 'name', cut),
    within('target', 'APPLICATION', 'id'),
  ],
};
