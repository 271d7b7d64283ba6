import type { Item } from './api.ts';
import type { Flag } from './command.ts';
import type { Column, Resource } from './resource.ts';

function column(title: string, field: string): Column {
  return { title, of: (item) => item[field] };
}

const id = column('ID', 'id');
const name = column('NAME', 'name');
const createdAt = column('CREATED', 'createdAt');

const role: Flag = {
  name: 'role',
  value: 'ROLE',
  values: ['Admin', 'User'],
  description: 'What it may do: Admin or User',
  more: 'default: User',
};

const inTeam: Flag = {
  name: 'team',
  value: 'TEAM',
  description: 'Team: its id or its name',
  more: 'default: your primary team',
};

function onlyIf(field: string, what: string): Flag {
  const values = ['true', 'false'];
  return { name: field, value: 'true|false', values, description: `Only those that are ${what}, or are not` };
}

const apps: Resource = {
  name: 'apps',
  one: 'application',
  many: 'applications',
  collection: 'applications',
  key: 'id',
  alias: 'name',
  loses: 'its keys and all that was counted for it',
  columns: [id, name, column('TEAM', 'teamId'), column('ENVIRONMENTS', 'environments'), createdAt],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [
      inTeam,
      {
        name: 'env',
        value: 'NAME',
        many: true,
        description: 'An environment; once for each',
        more: 'default: Production, Staging and Development',
      },
    ],
    body: async (given, { teamId }) => {
      const team = given.value('team');
      return {
        name: given.operand,
        teamId: team === undefined ? undefined : await teamId(team),
        environments: given.has('env') ? given.all('env') : undefined,
      };
    },
  },
};

const keys: Resource = {
  name: 'keys',
  one: 'application key',
  many: 'application keys',
  within: 'app',
  collection: 'keys',
  key: 'id',
  alias: 'name',
  loses: 'packets and reports with it are refused',
  columns: [
    id,
    column('TYPE', 'type'),
    name,
    { title: 'KEY', of: ({ key, prefix }) => key ?? `${prefix}…` },
    column('LAST USED', 'lastUsedAt'),
    column('WARNINGS', 'warnings'),
  ],
  create: {
    operand: {
      name: 'TYPE',
      values: ['Frontend', 'Mobile', 'Backend'],
      description: 'Frontend, Mobile or Backend',
    },
    flags: [{ name: 'name', value: 'NAME', description: 'Name to know it by' }],
    body: (given) => ({ type: given.operand, name: given.value('name') }),
    secretOf: ({ type }) => (type === 'Backend' ? 'key' : undefined),
  },
};

const envs: Resource = {
  name: 'envs',
  one: 'environment',
  many: 'environments',
  within: 'app',
  collection: 'environments',
  key: 'name',
  loses: 'all that was counted in it',
  columns: [name, createdAt],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [],
    body: (given) => ({ name: given.operand }),
  },
};

const features: Resource = {
  name: 'features',
  one: 'feature',
  many: 'features',
  within: 'app',
  collection: 'features',
  key: 'name',
  filters: [
    onlyIf('declared', 'declared'),
    onlyIf('stale', 'not seen for long'),
    onlyIf('archived', 'archived'),
  ],
  columns: [
    name,
    { title: 'STATE', of: stateOf },
    column('LAST SEEN', 'lastSeenAt'),
    column('DESCRIPTION', 'description'),
  ],
  create: {
    operand: { name: 'NAME', description: 'Its name in packets and reports' },
    flags: [{ name: 'description', value: 'TEXT', description: 'What it is for' }],
    body: (given) => ({ name: given.operand, description: given.value('description') }),
  },
};

const metrics: Resource = {
  name: 'metrics',
  one: 'metric',
  many: 'metrics',
  within: 'app',
  collection: 'metrics',
  key: 'name',
  filters: [onlyIf('declared', 'declared')],
  columns: [name, column('KIND', 'kind'), column('UNIT', 'unit'), column('DECLARED', 'declared')],
  create: {
    put: true,
    operand: { name: 'NAME', description: 'Its name in packets and reports' },
    flags: [
      {
        name: 'kind',
        value: 'KIND',
        values: ['counter', 'gauge'],
        description: 'counter: values are summed; gauge: the last one counts',
        more: 'default: counter',
      },
      { name: 'unit', value: 'UNIT', description: 'What it is counted in' },
    ],
    body: (given) => ({ kind: given.value('kind') ?? 'counter', unit: given.value('unit') }),
  },
};

const teams: Resource = {
  name: 'teams',
  one: 'team',
  many: 'teams',
  collection: 'teams',
  key: 'id',
  alias: 'name',
  columns: [id, name, column('PLAN', 'plan'), createdAt],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [
      {
        name: 'plan',
        value: 'PLAN',
        values: ['free', 'team', 'enterprise'],
        description: 'What it may have: free, team or enterprise',
      },
    ],
    body: (given) => ({ name: given.operand, plan: given.value('plan') }),
  },
};

const users: Resource = {
  name: 'users',
  one: 'user',
  many: 'users',
  collection: 'users',
  key: 'id',
  alias: 'email',
  columns: [id, column('E-MAIL', 'email'), name, column('ROLE', 'role'), column('TEAMS', 'teams')],
  create: {
    operand: { name: 'EMAIL', description: 'E-mail address to sign in with' },
    flags: [
      { name: 'name', value: 'NAME', required: true, description: 'Full name' },
      role,
      { ...inTeam, many: true, description: 'Team: its id or its name; once for each' },
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
};

const apiKeys: Resource = {
  name: 'api-keys',
  one: 'API key',
  many: 'API keys',
  within: 'team',
  collection: 'api-keys',
  key: 'clientId',
  alias: 'name',
  loses: 'its tokens are refused from then on',
  columns: [column('CLIENT ID', 'clientId'), name, column('ROLE', 'role'), createdAt],
  create: {
    operand: { name: 'NAME', description: 'Name to know it by' },
    flags: [role],
    body: (given) => ({ name: given.operand, role: given.value('role') }),
    secretOf: () => 'clientSecret',
  },
};

/** Everything that the command line lists, creates and deletes, by its command. */
export const resources = {
  apps,
  keys,
  envs,
  features,
  metrics,
  users,
  teams,
  'api-keys': apiKeys,
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof resources;

function stateOf({ declared, archived, stale }: Item): string {
  const words = [declared ? 'declared' : 'only seen', archived && 'archived', stale && 'stale'];
  return words.filter((word) => typeof word === 'string').join(', ');
}
