import { createdAt, id, name } from './common-columns.ts';
import { rangeFlags, teamFlag } from './common-flags.ts';
import { type Field, flag } from './fields.ts';
import { column, cut } from './print.ts';
import type { Column, Resource } from './resource.ts';
import { fieldsOf } from './send.ts';

const email = column('E-MAIL', 'email', cut);

const newName = flag('name NAME', 'Another name');
const role = flag('role ROLE', 'What it may do: Admin or User', { values: ['Admin', 'User'] });
const newRole: Field = { ...role, more: 'default: User' };
const plan = flag('plan PLAN', 'What it may have: free, team or enterprise', {
  values: ['free', 'team', 'enterprise'],
});

export const teams: Resource = {
  name: 'teams',
  one: 'team',
  many: 'teams',
  collection: 'teams',
  key: 'id',
  alias: 'name',
  single: true,
  columns: [id, name, column('PLAN', 'plan'), createdAt],
  create: { operand: { name: 'NAME', description: 'Its name' }, fields: [plan] },
  update: { fields: [newName, plan] },
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
    operand: {
      name: 'USER',
      description: 'User: its id, or its e-mail address when you share a team',
      read: (named, { userId }) => (named.includes('@') ? userId(named) : named),
    },
    put: true,
    fields: [],
  },
  remove: { word: 'remove', loses: 'a user in no other team is deleted' },
};

function secretFile(usage: string, description: string, more: Partial<Field> = {}): Field {
  return flag(usage, description, {
    file: true,
    read: (path, reader, flagName) => reader.secretFile(path, flagName),
    ...more,
  });
}

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
    operand: { name: 'EMAIL', description: 'E-mail address to sign in with', field: 'email' },
    fields: [
      flag('name NAME', 'Full name', { required: true }),
      newRole,
      flag('team TEAM', 'Team: its id or its name; once for each', {
        many: true,
        more: teamFlag.more,
        field: 'teams',
        read: (named, { teamId }) => teamId(named),
      }),
      secretFile('password-file FILE', 'First line is the password; - is standard input', {
        more: 'default: a password is made and printed',
        field: 'password',
      }),
    ],
    secretOf: ({ password }) => (password === undefined ? undefined : 'password'),
  },
  update: {
    fields: [
      newName,
      flag('email EMAIL', 'Another e-mail address to sign in with'),
      role,
      flag('primary-team TEAM', 'Primary team: its id or its name', {
        read: (named, { teamId }) => teamId(named),
      }),
      secretFile('password-file FILE', 'First line is the new password; - is standard input', {
        field: 'password',
      }),
      secretFile('current-password-file FILE', 'First line is your password as it is now', {
        more: 'needed for your own password and e-mail address',
        field: 'currentPassword',
      }),
    ],
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
    fields: [newRole],
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
    fields: [
      flag('redirect-uri URI', 'Address to return to after signing in, matched exactly; once for each', {
        many: true,
        required: true,
        field: 'redirectUris',
      }),
      flag('type TYPE', 'public: it runs on the machines of its users; confidential: it can keep a secret', {
        values: ['public', 'confidential'],
        more: 'default: public',
        default: 'public',
      }),
    ],
    secretOf: ({ clientSecret }) => (clientSecret === undefined ? undefined : 'clientSecret'),
  },
  remove: { loses: 'users who signed in to it are signed out' },
};

/** A column of a field within a field. */
function within(
  field: string,
  title: string,
  inner: string,
  more: Omit<Column, 'title' | 'of'> = {},
): Column {
  return { title, ...more, of: (item) => fieldsOf(item[field])[inner] };
}

export const audit: Resource = {
  name: 'audit',
  one: 'entry of the audit log',
  many: 'entries of the audit log',
  collection: 'audit',
  key: 'id',
  defaultLimit: 100,
  filters: [
    flag('action ACTION', 'Only this action, such as application.created, or a prefix: application'),
    flag('actor WHO', 'Only what was done by this user (e-mail address or id) or API key', {
      read: (named, { userId }) => (named.includes('@') ? userId(named) : named),
    }),
    ...rangeFlags('the beginning'),
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
