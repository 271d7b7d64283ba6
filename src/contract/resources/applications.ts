import Type from 'typebox';
import { activityKindNames } from '../activity.ts';
import { ApplicationPatch, NewApplication } from '../shapes/application.ts';
import { type } from '../shapes/application-key.ts';
import { FeaturePatch, NewFeature } from '../shapes/feature.ts';
import { MetricDeclaration } from '../shapes/metric.ts';
import { NewView, ViewPatch } from '../shapes/view.ts';
import { silenceOf, silenceOnly, type VerdictKind, verdictKinds, verdictWord } from '../verdicts.ts';
import {
  activityColumns,
  applicationColumns,
  applicationKeyColumns,
  environmentColumns,
  featureColumns,
  metricColumns,
  viewColumns,
} from './columns.ts';
import { type Field, fieldsOf, flag, rangeFlags, teamFlag, valuesOf } from './field.ts';
import type { Resource } from './resource.ts';

const settings = {
  allowedOrigins: [
    flag('origin ORIGIN', 'Origin whose pages may send packets; repeatable'),
    flag('any-origin', 'Accept packets from pages of any origin', { excludes: ['origin'], as: 'none' }),
  ],
  acceptClientIdentities: flag(
    'accept-identities true|false',
    'Attribute packets to identities that clients assert',
  ),
  rate: flag('rate N', "Packets and reports per second; default or 0: the server's rate"),
  burst: flag('burst N', 'Packets and reports at once; default: twice the rate'),
} as const;

export const apps: Resource = {
  name: 'apps',
  one: 'application',
  many: 'applications',
  collection: 'applications',
  key: 'id',
  alias: 'name',
  single: true,
  columns: applicationColumns,
  oneOfAName: true,
  create: {
    operand: { name: 'NAME', description: 'Application name' },
    fields: fieldsOf(NewApplication, {
      name: null,
      environments: flag('env NAME', 'Environment; repeatable', {
        more: 'default: Production, Staging and Development',
      }),
      ...settings,
      teamId: teamFlag,
    }),
  },
  update: { fields: fieldsOf(ApplicationPatch, { name: flag('name NAME', 'New name'), ...settings }) },
  remove: { loses: 'Its keys and all its counts are deleted too' },
};

const shownOnce = { field: 'key', where: { type: 'Backend' } };

export const keys: Resource = {
  name: 'keys',
  one: 'application key',
  many: 'application keys',
  within: 'app',
  collection: 'keys',
  key: 'id',
  alias: 'name',
  columns: applicationKeyColumns,
  create: {
    operand: {
      name: 'TYPE',
      values: valuesOf(type),
      description: 'Frontend for browsers, Mobile for apps, or Backend for servers',
      field: 'type',
    },
    fields: [flag('name NAME', 'Key name')],
    secret: shownOnce,
  },
  actions: [
    {
      word: 'rotate',
      summary: 'Replace an application key by a new one; the previous one is accepted for a day',
      replaced: 'expiresAt',
      path: ['rotate'],
      secret: shownOnce,
    },
  ],
  remove: { loses: 'Packets and reports with it are refused from then on' },
};

export const envs: Resource = {
  name: 'envs',
  one: 'environment',
  many: 'environments',
  within: 'app',
  collection: 'environments',
  key: 'name',
  columns: environmentColumns,
  create: { operand: { name: 'NAME', description: 'Environment name' }, fields: [] },
  remove: { loses: 'All its counts are deleted too' },
};

const viewQuery = flag('query QUERY', 'Choices on the page: state=new&sort=-checks');
const viewShared = flag('shared true|false', 'Shared with everyone who can see the application');

export const views: Resource = {
  name: 'views',
  one: 'saved view',
  many: 'saved views',
  within: 'app',
  collection: 'views',
  key: 'id',
  alias: 'name',
  columns: viewColumns,
  create: {
    operand: { name: 'NAME', description: 'Name of the view' },
    fields: fieldsOf(NewView, {
      name: null,
      page: flag('page PAGE', 'Page of the console'),
      query: viewQuery,
      shared: { ...viewShared, more: 'default: false, visible to you only' },
    }),
  },
  update: {
    fields: fieldsOf(ViewPatch, {
      name: flag('name NAME', 'New name'),
      query: viewQuery,
      shared: viewShared,
    }),
  },
  remove: {},
};

function onlyIf(what: string, more?: Partial<Field>): Field {
  return flag(`${what} true|false`, `Only ${what} ones (true), or all others (false)`, {
    values: ['true', 'false'],
    as: 'boolean',
    ...more,
  });
}

const verdicts = verdictKinds.map((kind) => verdictWord(kind)!);

const onlyVerdict = flag('verdict VERDICT', 'Only those with this verdict', {
  values: verdicts,
  more: verdicts.join(', '),
  as: 'underscored',
  caveat: (value) => silenceOf(value.replaceAll('-', '_') as VerdictKind),
});

const onlyStale = onlyIf('stale', {
  more: 'silence is the only basis: prefer --verdict safe-to-remove',
  caveat: (value) =>
    value === 'true' ? `${silenceOnly}; --verdict safe-to-remove rules that out` : undefined,
});

const description = flag('description TEXT', 'Description');

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
    onlyVerdict,
    flag('environment NAME', 'Times and verdicts of this environment only'),
    onlyIf('declared'),
    onlyIf('archived'),
    onlyStale,
    flag('owner OWNER', 'Only those of this owner: an id, or a name'),
    flag('tag TAG', 'Only those with this tag'),
    flag('mine', 'Only those whose owner is you or one of your teams', { as: 'set' }),
  ],
  columns: featureColumns,
  create: {
    operand: { name: 'NAME', description: 'Feature name in packets and reports' },
    fields: fieldsOf(NewFeature, { name: null, description }),
  },
  update: {
    fields: fieldsOf(FeaturePatch, {
      description,
      archived: flag('archived true|false', 'Archived: the team no longer uses it'),
      permanent: flag('permanent true|false', 'Permanent: meant to stay'),
      snoozedUntil: flag('snoozed-until TIME', 'Time until which its verdict is postponed', { as: 'time' }),
      split: null,
      rollout: null,
      owners: [
        flag('owner OWNER', 'Owner: user:E-MAIL, team:TEAM, or another text; repeatable', { as: 'owner' }),
        flag('no-owners', 'Remove all owners', { excludes: ['owner'], as: 'none' }),
      ],
      tags: [
        flag('tag TAG', 'Tag to find it by; repeatable'),
        flag('no-tags', 'Remove all tags', { excludes: ['tag'], as: 'none' }),
      ],
    }),
  },
  remove: {},
};

export const activity: Resource = {
  name: 'activity',
  one: 'change',
  many: 'changes',
  within: 'app',
  collection: 'activity',
  key: 'id',
  inRows: true,
  filters: [
    flag('environment NAME', 'Changes in this environment, and in all of them'),
    flag('feature NAME', 'Changes of this feature only'),
    flag('kind KIND', 'Changes of this kind only', {
      values: activityKindNames.map((each) => each.replaceAll('_', '-')),
      as: 'underscored',
    }),
    flag('actor WHO', 'Author: e-mail address or id of a user, or client id of an API key', { as: 'userId' }),
    flag('search TEXT', 'Text in the change, or in the names of flags, keys and authors'),
    ...rangeFlags('7 days before the end'),
  ],
  columns: activityColumns,
};

const kind = flag('kind KIND', 'counter: values are added up; gauge: the last value counts');
const unit = flag('unit UNIT', 'Unit of its values');

export const metrics: Resource = {
  name: 'metrics',
  one: 'metric',
  many: 'metrics',
  within: 'app',
  collection: 'metrics',
  key: 'name',
  inRows: true,
  filters: [onlyIf('declared')],
  columns: metricColumns,
  create: {
    operand: { name: 'NAME', description: 'Metric name in packets and reports' },
    put: true,
    fields: fieldsOf(MetricDeclaration, {
      kind: { ...kind, more: 'default: counter', default: 'counter' },
      unit,
      name: null,
      declared: null,
    }),
  },
  update: {
    whole: ['kind', 'unit'],
    fields: fieldsOf(Type.Partial(MetricDeclaration), { kind, unit, name: null, declared: null }),
  },
  remove: {},
};
