import Type, { type Static } from 'typebox';
import {
  bodyShape,
  exampleIds,
  exampleTime,
  flag,
  listOf,
  name,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';

export const Environment = shape(
  'Environment',
  {
    name: text('Its name, as packets and reports have it.'),
    createdAt: time('When it was created.'),
  },
  { name: 'Production', createdAt: exampleTime },
);

export const NewEnvironment = bodyShape('NewEnvironment', { name: name() }, { name: 'Test' });

const limit = { minimum: 0, maximum: 1_000_000_000 };

const settings = {
  allowedOrigins: Type.Array(Type.String(), {
    description:
      'Origins whose pages may send packets: `https://shop.example`, `https://*.shop.example` for its subdomains, `http://localhost:*` for any port of the own machine, `null` for sandboxed pages and files. A slash at the end is removed. If there are none, every page may.',
  }),
  acceptClientIdentities: Type.Boolean({
    description: 'Whether packets are attributed to identities that clients assert (`u` of a packet).',
  }),
  rate: Type.Union([Type.Null(), Type.Number(limit)], {
    description:
      'Packets and reports a second, up to the rate of the service. `null` and 0 are the rate of the service.',
  }),
  burst: Type.Union([Type.Null(), Type.Integer(limit)], {
    description: 'Packets and reports at once, up to the burst of the service; `null` is twice the rate.',
  }),
};

const optionalSettings = Type.Partial(Type.Object(settings)).properties;

export const Application = shape(
  'Application',
  {
    id: text('Its id.'),
    teamId: text('Id of its team.'),
    name: name(),
    ...settings,
    environments: listOf(Environment, 'The oldest environment comes first.'),
    createdAt: time('When it was created.'),
    updatedAt: time('When it was last changed.'),
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

/** An application as it is answered with. */
export type ApplicationShown = Static<typeof Application>;

export const NewApplication = bodyShape(
  'NewApplication',
  {
    name: name(),
    teamId: Type.Optional(text('The default is your primary team.')),
    environments: Type.Optional(
      listOf(name(), 'Names of its first environments. The default is Production, Staging and Development.'),
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

export const OriginCheck = shape(
  'OriginCheck',
  {
    origin: text('The origin that was asked for.'),
    allowed: flag('Whether packets of its pages are accepted.'),
    by: orNull(
      text(
        'The first pattern of `allowedOrigins` that allows it; `null` when none does, or when there are none.',
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

export type OriginCheckShown = Static<typeof OriginCheck>;
