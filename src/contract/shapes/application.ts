import Type, { type Static } from 'typebox';
import {
  bodyShape,
  boolean,
  exampleIds,
  exampleTime,
  list,
  name,
  optional,
  orNull,
  type StoredFields,
  shape,
  text,
  time,
} from './fields.ts';
import { createFields, newName, option, teamOption } from './option.ts';

export const Environment = shape(
  'Environment',
  { name: text('Name of the environment, as packets and reports send it.'), createdAt: time('Creation time.') },
  { name: 'Production', createdAt: exampleTime },
);
export type Environment = Static<typeof Environment>;

export const NewEnvironment = bodyShape('NewEnvironment', { name: name() }, { name: 'Test' });

const limit = { minimum: 0, maximum: 1_000_000_000 };

const settings = {
  allowedOrigins: Type.Array(Type.String(), {
    description:
      'Origins whose pages may send packets: `https://shop.example`, `https://*.shop.example` for its subdomains, `http://localhost:*` for any port of the local machine, `null` for sandboxed pages and files. A trailing slash is removed. An empty list allows every page.',
  }),
  acceptClientIdentities: Type.Boolean({
    description: 'True if the service attributes packets to identities that clients assert (`u` of a packet).',
  }),
  rate: Type.Union([Type.Null(), Type.Number(limit)], {
    description:
      'Maximum packets and reports per second, up to the rate of the service. `null` and 0 stand for the rate of the service.',
  }),
  burst: Type.Union([Type.Null(), Type.Integer(limit)], {
    description:
      'Maximum burst of packets and reports, up to the burst of the service; `null` stands for twice the rate.',
  }),
};

const optionalSettings = optional(settings);

export const Application = shape(
  'Application',
  {
    id: text('Id of the application.'),
    teamId: text('Id of the team that owns the application.'),
    name: name(),
    ...settings,
    environments: list(Environment, 'Environments, oldest first.'),
    createdAt: time('Creation time.'),
    updatedAt: time('Time of the last change.'),
  },
  {
    id: exampleIds.application,
    name: 'Shop',
    teamId: exampleIds.team,
    allowedOrigins: ['https://shop.example'],
    acceptClientIdentities: false,
    rate: null,
    burst: null,
    environments: [{ name: 'Production', createdAt: exampleTime }],
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
);
export type Application = Static<typeof Application>;

/** Settings that are stored and returned without conversion. */
export const plainApplicationSettings = ['name', 'allowedOrigins', 'acceptClientIdentities', 'rate', 'burst'] as const;
export type PlainApplicationSettings = StoredFields<Application, typeof plainApplicationSettings>;

export const plainApplicationDefaults = {
  allowedOrigins: [],
  acceptClientIdentities: false,
  rate: null,
  burst: null,
} as const satisfies Partial<PlainApplicationSettings>;

export const NewApplication = bodyShape(
  'NewApplication',
  {
    name: name(),
    teamId: Type.Optional(text('Id of the owning team. The default is your primary team.')),
    environments: Type.Optional(
      list(name(), 'Names of the initial environments. The default is Production, Staging and Development.'),
    ),
    ...optionalSettings,
  },
  {
    name: 'Shop',
    allowedOrigins: ['https://shop.example', 'https://*.shop.example'],
    environments: ['Production', 'Test'],
  },
);

export const ApplicationPatch = bodyShape(
  'ApplicationPatch',
  { name: Type.Optional(name()), ...optionalSettings },
  { acceptClientIdentities: true, rate: 500, burst: 1000 },
);

const settingOptions = {
  allowedOrigins: [
    option('origin ORIGIN', 'Origin whose pages may send packets; repeatable'),
    option('any-origin', 'Accept packets from pages of any origin', { excludes: ['origin'], as: 'none' }),
  ],
  acceptClientIdentities: option('accept-identities true|false', 'Attribute packets to identities that clients assert'),
  rate: option('rate N', "Packets and reports per second; default or 0: the server's rate"),
  burst: option('burst N', 'Burst of packets and reports; default: twice the rate'),
} as const;

export const applicationOptions = {
  create: createFields(NewApplication, {
    name: null,
    environments: option('env NAME', 'Environment; repeatable', {
      more: 'default: Production, Staging and Development',
    }),
    ...settingOptions,
    teamId: teamOption,
  }),
  update: createFields(ApplicationPatch, { name: newName, ...settingOptions }),
};

export const OriginCheck = shape(
  'OriginCheck',
  {
    origin: text('The checked origin.'),
    allowed: boolean('True if packets from pages of the origin are accepted.'),
    by: orNull(
      text(
        'First pattern of `allowedOrigins` that allows the origin; `null` if no pattern does, or if the list is empty.',
      ),
    ),
    why: text('The reason, for people.'),
  },
  {
    origin: 'https://www.shop.example',
    allowed: true,
    by: 'https://*.shop.example',
    why: 'https://*.shop.example allows it.',
  },
);
export type OriginCheck = Static<typeof OriginCheck>;
