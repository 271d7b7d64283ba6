import type { Item } from './api.ts';
import { createdAt, id, name } from './common-columns.ts';
import { teamFlag } from './common-flags.ts';
import { type Field, flag } from './fields.ts';
import { UsageError } from './flags.ts';
import { checkOnlyOne } from './one-of-a-name.ts';
import { column, cut } from './print.ts';
import type { Resource } from './resource.ts';

function truth(flagName: string, description: string, more: Partial<Field> = {}): Field {
  const values = { values: ['true', 'false'], read: (value: string): unknown => value === 'true' };
  return flag(`${flagName} true|false`, description, { ...values, ...more });
}

function onlyIf(field: string, what: string): Field {
  return truth(field, `Only those that are ${what}, or are not`);
}

/** A number; `null` for the server's default. @throws {UsageError} */
function numberOrDefault(text: string, _: unknown, flagName: string): number | null {
  if (text === 'default') return null;
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new UsageError(`Cannot use --${flagName} ${text}: must be a number, or default`);
}

/** For a text that is removed by setting it to an empty one. */
const removable = { read: (text: string) => (text === '' ? null : text) };

/** The settings of an application: flags of both `create` and `update`. */
const settings: readonly Field[] = [
  flag('origin ORIGIN', 'Origin whose pages may send packets; once for each', {
    many: true,
    field: 'allowedOrigins',
  }),
  flag('any-origin', 'Pages of every origin may send packets', {
    excludes: ['origin'],
    field: 'allowedOrigins',
    read: () => [],
  }),
  truth('accept-identities', 'Whether identities that clients assert are attributed', {
    field: 'acceptClientIdentities',
  }),
  flag('rate N', "Packets and reports a second, up to the server's rate (0: the server's rate)", {
    read: numberOrDefault,
  }),
  flag('burst N', "Packets and reports at once; default: the server's", { read: numberOrDefault }),
];

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
    fields: [
      flag('env NAME', 'An environment; once for each', {
        many: true,
        more: 'default: Production, Staging and Development',
        field: 'environments',
      }),
      ...settings,
      { ...teamFlag, field: 'teamId', read: (named, { teamId }) => teamId(named) },
    ],
    check: (api, { name, teamId }) => checkOnlyOne(api, name, { teamId }),
  },
  update: {
    fields: [flag('name NAME', 'Another name'), ...settings],
    check: async (api, { name }, id) => (name === undefined ? undefined : checkOnlyOne(api, name, { id })),
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
      description: 'Frontend for browsers, Mobile for apps, or Backend for servers',
      field: 'type',
    },
    fields: [flag('name NAME', 'Name to know it by')],
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
  create: { operand: { name: 'NAME', description: 'Its name' }, fields: [] },
  remove: { loses: 'all that was counted in it' },
};

const description = flag('description TEXT', 'What it is for');

export const features: Resource = {
  name: 'features',
  one: 'feature',
  many: 'features',
  within: 'app',
  collection: 'features',
  key: 'name',
  single: true,
  inRows: true,
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
    fields: [description],
  },
  update: {
    fields: [
      { ...description, ...removable },
      truth('archived', 'Whether the team is done with it'),
      truth('permanent', 'Whether it is meant to stay'),
      flag('snoozed-until TIME', 'Until when its verdict is put off', {
        read: (text, reader, name) => (text === '' ? null : reader.time(text, name)),
      }),
    ],
  },
  remove: {},
};

const kind = flag('kind KIND', 'counter: values are summed; gauge: the last one counts', {
  values: ['counter', 'gauge'],
});
const unit = flag('unit UNIT', 'What it is counted in');

export const metrics: Resource = {
  name: 'metrics',
  one: 'metric',
  many: 'metrics',
  within: 'app',
  collection: 'metrics',
  key: 'name',
  inRows: true,
  filters: [onlyIf('declared', 'declared')],
  columns: [name, column('KIND', 'kind'), column('UNIT', 'unit', cut), column('DECLARED', 'declared')],
  create: {
    operand: { name: 'NAME', description: 'Its name in packets and reports' },
    put: true,
    fields: [{ ...kind, more: 'default: counter', default: 'counter' }, unit],
  },
  update: { whole: ['kind', 'unit'], fields: [kind, { ...unit, ...removable }] },
  remove: {},
};

function stateOf({ declared, archived, permanent, stale }: Item): string {
  const words = [
    declared ? 'declared' : 'only seen',
    archived && 'archived',
    permanent && 'permanent',
    stale && 'stale',
  ];
  return words.filter((word) => typeof word === 'string').join(', ');
}
