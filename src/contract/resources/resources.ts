import { activityKindNames } from '../activity.ts';
import { apiKeyOptions } from '../shapes/api-key.ts';
import { applicationOptions } from '../shapes/application.ts';
import { type as keyType } from '../shapes/application-key.ts';
import { experimentFilters, experimentOptions, experimentStates } from '../shapes/experiment.ts';
import { featureOptions } from '../shapes/feature.ts';
import { identityProviderOptions } from '../shapes/identity-provider.ts';
import { resetLinkOptions } from '../shapes/invitation.ts';
import { metricOptions } from '../shapes/metric.ts';
import { envOption, type Field, listValues, option, rangeOptions } from '../shapes/option.ts';
import { signInClientOptions } from '../shapes/sign-in-client.ts';
import { teamOptions } from '../shapes/team.ts';
import { memberOptions, userOptions } from '../shapes/user.ts';
import { viewOptions } from '../shapes/view.ts';
import { webhookOptions } from '../shapes/webhook.ts';
import { explainSilence, silenceOnly, type VerdictKind, verdictKinds, verdictWord } from '../verdicts.ts';
import * as columns from './columns.ts';
import type { Resource } from './resource.ts';

type ResourceDeclaration = Omit<Resource, 'many' | 'key'> & Partial<Pick<Resource, 'many' | 'key'>>;

function resource(declared: ResourceDeclaration): Resource {
  return { many: `${declared.one}s`, key: 'id', ...declared };
}

const apps = resource({
  name: 'apps',
  sample: 'Shop',
  examples: { create: 'Shop --env Production --env Staging', update: 'Shop --rate 500' },
  one: 'application',
  collection: 'applications',
  alias: 'name',
  single: true,
  columns: columns.applicationColumns,
  oneOfAName: true,
  create: { operand: { name: 'NAME', description: 'Application name' }, fields: applicationOptions.create },
  update: { fields: applicationOptions.update },
  remove: { loses: 'The keys and all counts of the application are deleted too' },
});

const shownOnce = { field: 'key', where: { type: 'Backend' } };

const keys = resource({
  name: 'keys',
  sample: 'Web',
  examples: { create: 'Frontend --name Web' },
  one: 'application key',
  within: 'app',
  collection: 'keys',
  alias: 'name',
  replaced: 'expiresAt',
  columns: columns.applicationKeyColumns,
  create: {
    operand: {
      name: 'TYPE',
      values: listValues(keyType),
      description: 'Frontend for browsers, Mobile for apps, or Backend for servers',
      field: 'type',
    },
    fields: [option('name NAME', 'Key name', { more: 'default: the type, with a number if that name is taken' })],
    secret: shownOnce,
  },
  actions: [
    {
      word: 'rotate',
      summary: 'Replace an application key by a new one; the previous key is accepted for a day',
      overlap: 'expiresAt',
      path: ['rotate'],
      secret: shownOnce,
    },
  ],
  remove: { loses: 'Packets and reports with this key are refused from then on' },
});

const envs = resource({
  name: 'envs',
  sample: 'Staging',
  one: 'environment',
  within: 'app',
  collection: 'environments',
  key: 'name',
  columns: columns.environmentColumns,
  create: { operand: { name: 'NAME', description: 'Environment name' }, fields: [] },
  remove: { loses: 'All counts of the environment are deleted too' },
});

const views = resource({
  name: 'views',
  sample: 'Stale',
  examples: { create: 'Stale --page flags --query state=stale', update: 'Stale --shared true' },
  one: 'saved view',
  within: 'app',
  collection: 'views',
  alias: 'name',
  columns: columns.viewColumns,
  create: { operand: { name: 'NAME', description: 'Name of the view' }, fields: viewOptions.create },
  update: { fields: viewOptions.update },
  remove: {},
});

function onlyIf(what: string, more?: Partial<Field>): Field {
  return option(`${what} true|false`, `Only ${what} features (true), or all other features (false)`, {
    values: ['true', 'false'],
    as: 'boolean',
    ...more,
  });
}

const verdicts = verdictKinds.map((kind) => verdictWord(kind)!);

const onlyVerdict = option('verdict VERDICT', 'Only features with this verdict', {
  values: verdicts,
  more: verdicts.join(', '),
  as: 'underscored',
  caveat: (value) => explainSilence(value.replaceAll('-', '_') as VerdictKind),
});

const onlyStale = onlyIf('stale', {
  more: 'silence is the only evidence: prefer --verdict safe-to-remove',
  caveat: (value) => (value === 'true' ? `${silenceOnly}; --verdict safe-to-remove excludes such features` : undefined),
});

const features = resource({
  name: 'features',
  sample: 'checkout',
  examples: {
    list: '--verdict safe-to-remove --env Production',
    create: "checkout --description 'New checkout'",
    update: 'checkout --owner user:ada@shop.example --tag payments',
  },
  one: 'feature',
  within: 'app',
  collection: 'features',
  key: 'name',
  single: true,
  inRows: true,
  filters: [
    onlyVerdict,
    envOption('Only times and verdicts of this environment'),
    onlyIf('declared'),
    onlyIf('archived'),
    onlyStale,
    option('owner OWNER', 'Only features of this owner: id or name'),
    option('tag TAG', 'Only features with this tag'),
    option('mine', 'Only features that you or one of your teams own', { as: 'set' }),
  ],
  columns: columns.featureColumns,
  create: {
    operand: { name: 'NAME', description: 'Feature name in packets and reports' },
    fields: featureOptions.create,
  },
  update: { fields: featureOptions.update },
  remove: {},
});

const activity = resource({
  name: 'activity',
  examples: { '': '--env Production --from 24h' },
  one: 'change',
  within: 'app',
  collection: 'activity',
  inRows: true,
  filters: [
    envOption('Only changes of this environment, and changes of all environments'),
    option('feature NAME', 'Only changes of this feature'),
    option('kind KIND', 'Only changes of this kind', {
      values: activityKindNames.map((each) => each.replaceAll('_', '-')),
      as: 'underscored',
    }),
    option('actor WHO', 'Author: e-mail address or id of a user, or client id of an API key', { as: 'userId' }),
    option('search TEXT', 'Text in the change, or in the names of flags, keys and authors'),
    ...rangeOptions('7 days before the end'),
  ],
  columns: columns.activityColumns,
});

const metrics = resource({
  name: 'metrics',
  sample: 'revenue',
  examples: { create: 'revenue --kind counter --unit EUR', update: 'revenue --unit USD' },
  one: 'metric',
  within: 'app',
  collection: 'metrics',
  key: 'name',
  inRows: true,
  filters: [onlyIf('declared')],
  columns: columns.metricColumns,
  create: {
    operand: { name: 'NAME', description: 'Metric name in packets and reports' },
    put: true,
    fields: metricOptions.create,
  },
  update: { whole: ['kind', 'unit'], fields: metricOptions.update },
  remove: {},
});

const teams = resource({
  name: 'teams',
  sample: 'Payments',
  examples: { update: 'Payments --second-factor admins' },
  one: 'team',
  collection: 'teams',
  alias: 'name',
  single: true,
  columns: columns.teamColumns,
  create: { operand: { name: 'NAME', description: 'Team name' }, fields: teamOptions.create },
  update: { fields: teamOptions.update },
  remove: { loses: 'The API keys and sign-in clients of the team are deleted too' },
});

const members = resource({
  name: 'members',
  sample: 'ada@shop.example',
  examples: { list: '--team Payments', add: 'ada@shop.example --team Payments --role Viewer' },
  one: 'member',
  within: 'team',
  collection: 'members',
  alias: 'email',
  single: true,
  columns: columns.memberColumns,
  create: {
    word: 'add',
    operand: { name: 'USER', description: 'User: id, or e-mail address if you share a team', as: 'userId' },
    put: true,
    fields: memberOptions,
  },
  remove: { word: 'remove', loses: 'A user who is in no other team is deleted' },
});

const users = resource({
  name: 'users',
  sample: 'ada@shop.example',
  examples: {
    create: "ada@shop.example --name 'Ada Lovelace' --team Payments",
    update: "ada@shop.example --name 'Ada Lovelace'",
  },
  one: 'user',
  collection: 'users',
  alias: 'email',
  single: true,
  columns: columns.userColumns,
  create: {
    operand: { name: 'EMAIL', description: 'E-mail address to sign in with', field: 'email' },
    fields: userOptions.create,
    secret: { field: 'invitation' },
  },
  update: { fields: userOptions.update },
  actions: [
    {
      word: 'reset-link',
      summary: 'Print a link for accepting an invitation, or choosing another password',
      path: ['reset-link'],
      fields: resetLinkOptions,
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
});

const apiKeys = resource({
  name: 'api-keys',
  sample: 'CI',
  examples: { create: 'CI --scope read --app Shop --expires 90d', update: 'CI --expires 90d' },
  one: 'API key',
  within: 'team',
  collection: 'api-keys',
  key: 'clientId',
  alias: 'name',
  columns: columns.apiKeyColumns,
  create: {
    operand: { name: 'NAME', description: 'API key name' },
    fields: apiKeyOptions.create,
    secret: { field: 'clientSecret' },
  },
  update: { fields: apiKeyOptions.update },
  actions: [
    {
      word: 'rotate',
      summary: 'Rotate the secret of an API key; the previous secret is accepted for a day',
      overlap: 'previousSecretUntil',
      path: ['secret'],
      secret: { field: 'clientSecret' },
    },
  ],
  remove: { loses: 'Tokens of the API key are refused from then on' },
});

const clients = resource({
  name: 'clients',
  sample: 'Grafana',
  examples: { create: 'Grafana --redirect-uri https://grafana.shop.example/login/generic_oauth' },
  one: 'sign-in client',
  within: 'team',
  collection: 'clients',
  key: 'clientId',
  alias: 'name',
  columns: columns.signInClientColumns,
  create: {
    operand: { name: 'NAME', description: 'Client name, shown on the sign-in page' },
    fields: signInClientOptions,
    secret: { field: 'clientSecret' },
  },
  remove: { loses: 'Users who signed in to the client are signed out' },
});

const audit = resource({
  name: 'audit',
  examples: { '': '--action application --from 7d' },
  one: 'entry of the audit log',
  many: 'entries of the audit log',
  collection: 'audit',
  defaultLimit: 100,
  filters: [
    option('action ACTION', 'Action, such as application.created, or a prefix of actions: application'),
    option('actor WHO', 'Actor: e-mail address or id of a user, or client id of an API key', { as: 'userId' }),
    option('app APP', 'Application: id or name', {
      field: 'application',
      as: 'applicationId',
      more: 'default: all applications',
    }),
    ...rangeOptions('the first entry'),
  ],
  columns: columns.auditColumns,
});

const deletions = resource({
  name: 'deletions',
  one: 'deletion',
  many: 'pending deletions',
  collection: 'deletions',
  key: 'requestedAt',
  columns: columns.deletionColumns,
});

const experiments = resource({
  name: 'experiments',
  sample: 'checkout-speed',
  examples: {
    create: 'checkout-speed --feature checkout --env Production --base off --metric used --users 4000',
    list: '--state running',
    update: "checkout-speed --stop 'The new page loses orders'",
  },
  one: 'experiment',
  within: 'app',
  collection: 'experiments',
  alias: 'name',
  single: true,
  columns: columns.experimentColumns,
  filters: [
    experimentFilters.feature,
    experimentFilters.environment,
    option('state STATE', 'Only experiments in this state', { values: [...experimentStates] }),
  ],
  create: { operand: { name: 'NAME', description: 'Name of the experiment' }, fields: experimentOptions.create },
  update: { fields: experimentOptions.update },
  remove: { loses: 'The result of the experiment is deleted too' },
});

const delivery = option('delivery ID', 'Id of the delivery, from webhooks deliveries', { required: true });

const webhooks = resource({
  name: 'webhooks',
  sample: 'Chat',
  examples: {
    create: 'Chat --endpoint https://hooks.shop.example/flags --event flag.stale',
    update: 'Chat --enabled false',
    sent: 'Chat --delivery ID',
    redeliver: 'Chat --delivery ID',
  },
  one: 'webhook',
  within: 'team',
  collection: 'webhooks',
  alias: 'name',
  single: true,
  columns: columns.webhookColumns,
  create: {
    operand: { name: 'NAME', description: 'Webhook name' },
    fields: webhookOptions.create,
    secret: { field: 'secret', where: { format: 'standard' } },
  },
  update: { fields: webhookOptions.update },
  actions: [
    {
      word: 'test',
      summary: 'Send a test event to a webhook, and show the message and the response',
      path: ['test'],
      follow: ['deliveries'],
    },
    {
      word: 'rotate',
      summary: 'Rotate the secret of a webhook; the previous secret also signs for a day',
      overlap: 'previousSecretUntil',
      path: ['secret'],
      secret: { field: 'secret' },
    },
    {
      word: 'deliveries',
      summary: 'List the latest deliveries of a webhook',
      path: ['deliveries'],
      most: 50,
      columns: columns.deliveryColumns,
    },
    {
      word: 'sent',
      summary: 'Show the request of a webhook delivery and its responses',
      options: [delivery],
      path: ['deliveries', '--delivery'],
      method: 'GET',
    },
    {
      word: 'redeliver',
      summary: 'Repeat a webhook delivery',
      options: [delivery],
      path: ['deliveries', '--delivery', 'redeliver'],
    },
  ],
  remove: { loses: 'Pending deliveries are cancelled' },
});

const identityProviders = resource({
  name: 'providers',
  sample: 'Okta',
  examples: {
    create: 'Okta --issuer https://shop.okta.com --client-id flagmeter --client-secret-file okta.secret',
    update: 'Okta --enabled false',
  },
  one: 'identity provider',
  collection: 'identity-providers',
  alias: 'name',
  single: true,
  columns: columns.identityProviderColumns,
  create: {
    operand: { name: 'NAME', description: 'Name, which the sign-in button shows' },
    fields: identityProviderOptions.create,
  },
  update: { fields: identityProviderOptions.update },
  remove: { loses: 'Users can no longer sign in with the provider' },
  actions: [{ word: 'test', summary: 'Test the connection to an identity provider', path: ['test'] }],
});

/** The resources by their names in the client. */
export const resources = {
  apps,
  keys,
  envs,
  features,
  experiments,
  metrics,
  views,
  users,
  teams,
  members,
  'api-keys': apiKeys,
  clients,
  webhooks,
  providers: identityProviders,
  activity,
  audit,
  deletions,
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof resources;
