import { UsageError } from '../flags.ts';
import type { Item } from './api.ts';
import type { Flag, Given } from './command.ts';
import { createdAt, id, name } from './common-columns.ts';
import { teamFlag } from './common-flags.ts';
import { column, cut } from './print.ts';
import type { Filter, Resource } from './resource.ts';

const truth = { value: 'true|false', values: ['true', 'false'] };

function onlyIf(field: string, what: string): Filter {
  return { name: field, ...truth, description: `Only those that are ${what}, or are not` };
}

/** The settings of an application, for when it is made and later. */
const settings: readonly Flag[] = [
  {
    name: 'origin',
    value: 'ORIGIN',
    many: true,
    description: 'Origin whose pages may send packets; once for each',
  },
  { name: 'any-origin', description: 'Pages of every origin may send packets' },
  {
    name: 'accept-identities',
    ...truth,
    description: 'Whether identities that clients assert are attributed',
  },
  {
    name: 'rate',
    value: 'N',
    description: "Packets and reports a second; 0: no limit, default: the server's",
  },
  { name: 'burst', value: 'N', description: "Packets and reports at once; default: the server's" },
];

/** @throws {UsageError} */
function settingsOf(given: Given): object {
  if (given.has('origin') && given.has('any-origin'))
    throw new UsageError('Cannot use --any-origin with --origin: say one of them');
  const origins = given.has('any-origin') ? [] : given.all('origin');
  return {
    allowedOrigins: given.has('any-origin') || origins.length > 0 ? origins : undefined,
    acceptClientIdentities: truthOf(given, 'accept-identities'),
    rate: numberOf(given, 'rate'),
    burst: numberOf(given, 'burst'),
  };
}

function truthOf(given: Given, flag: string): boolean | undefined {
  return given.has(flag) ? given.value(flag) === 'true' : undefined;
}

/** `null` for the server's own. @throws {UsageError} */
function numberOf(given: Given, flag: string): number | null | undefined {
  const text = given.value(flag);
  if (text === undefined) return undefined;
  if (text === 'default') return null;
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --${flag} ${text}: must be a number, or default`);
}

/** A text that is taken away by an empty one. */
function textOf(given: Given, flag: string): string | null | undefined {
  return given.value(flag) === '' ? null : given.value(flag);
}

export const apps: Resource = {
  name: 'apps',
  one: 'application',
  many: 'applications',
  collection: 'applications',
  key: 'id',
  alias: 'name',
  single: true,
  columns: [id, name, column('ENVIRONMENTS', 'environments', cut), createdAt, column('TEAM', 'teamId')],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [
      {
        name: 'env',
        value: 'NAME',
        many: true,
        description: 'An environment; once for each',
        more: 'default: Production, Staging and Development',
      },
      ...settings,
      teamFlag,
    ],
    body: async (given, { teamId }) => {
      const team = given.value('team');
      return {
        name: given.operand,
        teamId: team === undefined ? undefined : await teamId(team),
        environments: given.has('env') ? given.all('env') : undefined,
        ...settingsOf(given),
      };
    },
  },
  update: {
    flags: [{ name: 'name', value: 'NAME', description: 'Another name' }, ...settings],
    body: (given) => ({ name: given.value('name'), ...settingsOf(given) }),
  },
  remove: { loses: 'its keys and all that was counted for it' },
};

export const keys: Resource = {
  name: 'keys',
  one: 'application key',
  many: 'application keys',
  within: 'app',
  collection: 'keys',
  key: 'id',
  alias: 'name',
  columns: [
    id,
    column('TYPE', 'type'),
    name,
    column('WARNINGS', 'warnings'),
    { title: 'KEY', ...cut, of: ({ key, prefix }) => key ?? `${prefix}…` },
    column('LAST USED', 'lastUsedAt'),
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
  remove: { loses: 'packets and reports with it are refused' },
};

export const envs: Resource = {
  name: 'envs',
  one: 'environment',
  many: 'environments',
  within: 'app',
  collection: 'environments',
  key: 'name',
  columns: [name, createdAt],
  create: {
    operand: { name: 'NAME', description: 'Its name' },
    flags: [],
    body: (given) => ({ name: given.operand }),
  },
  remove: { loses: 'all that was counted in it' },
};

const description: Flag = { name: 'description', value: 'TEXT', description: 'What it is for' };

export const features: Resource = {
  name: 'features',
  one: 'feature',
  many: 'features',
  within: 'app',
  collection: 'features',
  key: 'name',
  single: true,
  filters: [
    onlyIf('declared', 'declared'),
    onlyIf('stale', 'not seen for long'),
    onlyIf('archived', 'archived'),
  ],
  columns: [
    name,
    { title: 'STATE', of: stateOf },
    column('LAST SEEN', 'lastSeenAt'),
    column('DESCRIPTION', 'description', cut),
  ],
  create: {
    operand: { name: 'NAME', description: 'Its name in packets and reports' },
    flags: [description],
    body: (given) => ({ name: given.operand, description: given.value('description') }),
  },
  update: {
    flags: [description, { name: 'archived', ...truth, description: 'Whether the team is done with it' }],
    body: (given) => ({ description: textOf(given, 'description'), archived: truthOf(given, 'archived') }),
  },
  remove: {},
};

const metricFlags: readonly Flag[] = [
  {
    name: 'kind',
    value: 'KIND',
    values: ['counter', 'gauge'],
    description: 'counter: values are summed; gauge: the last one counts',
    more: 'default: counter',
  },
  { name: 'unit', value: 'UNIT', description: 'What it is counted in' },
];

export const metrics: Resource = {
  name: 'metrics',
  one: 'metric',
  many: 'metrics',
  within: 'app',
  collection: 'metrics',
  key: 'name',
  filters: [onlyIf('declared', 'declared')],
  columns: [name, column('KIND', 'kind'), column('UNIT', 'unit', cut), column('DECLARED', 'declared')],
  create: {
    operand: { name: 'NAME', description: 'Its name in packets and reports' },
    flags: metricFlags,
    putAt: (given) => given.operand,
    body: (given) => ({ kind: given.value('kind') ?? 'counter', unit: given.value('unit') }),
  },
  update: {
    whole: ['kind', 'unit'],
    flags: metricFlags.map(({ more: _, ...flag }) => flag),
    body: (given) => ({ kind: given.value('kind'), unit: textOf(given, 'unit') }),
  },
  remove: {},
};

function stateOf({ declared, archived, stale }: Item): string {
  const words = [declared ? 'declared' : 'only seen', archived && 'archived', stale && 'stale'];
  return words.filter((word) => typeof word === 'string').join(', ');
}
