import Type, { type Static } from 'typebox';
import { limits, type TierLimit } from '../tiers.ts';
import {
  bodyShape,
  boolean,
  count,
  exampleIds,
  exampleTime,
  list,
  name,
  number,
  oneOf,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';
import { createFields, newName, option } from './option.ts';
import { secondFactor } from './sign-in-policy.ts';

const tier = Type.Union([Type.Literal('free'), Type.Literal('team'), Type.Literal('enterprise')], {
  description:
    'Plan, which limits the resources of the team. Unless the service runs with `--plans open`, an Admin can only lower the plan.',
});

export const Team = shape(
  'Team',
  {
    id: text('Id of the team.'),
    name: name(),
    plan: tier,
    secondFactor,
    createdAt: time('Creation time.'),
    updatedAt: time('Time of the last change.'),
  },
  {
    id: exampleIds.team,
    name: 'Shop',
    plan: 'team' as const,
    secondFactor: 'optional' as const,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
);
export type Team = Static<typeof Team>;

export const NewTeam = bodyShape(
  'NewTeam',
  { name: name(), plan: Type.Optional(tier) },
  { name: 'Shop', plan: 'team' },
);

export const TeamPatch = bodyShape(
  'TeamPatch',
  { name: Type.Optional(name()), plan: Type.Optional(tier), secondFactor: Type.Optional(secondFactor) },
  { plan: 'enterprise' },
);

const tierOption = option('plan PLAN', 'Plan: free, team or enterprise');

export const teamOptions = {
  create: createFields(NewTeam, { name: null, plan: tierOption }),
  update: createFields(TeamPatch, {
    name: newName,
    plan: tierOption,
    secondFactor: option('second-factor RULE', 'Users who need a second factor: optional, admins or all'),
  }),
};

export const kinds = Object.keys(limits) as TierLimit[];

export const Allowance = Type.Object({
  what: oneOf(kinds, 'The limited resource.'),
  words: text('The limited resource, for people.'),
  allowed: count('Number that the plan allows for a team, or for each of its applications.'),
  used: count('Number of resources in use. For a limit of each application: the highest number in one application.'),
  application: orNull(text('Name of the application with the highest number; `null` for a limit of the team.')),
});
export type Allowance = Static<typeof Allowance>;

const ServiceLimit = Type.Object({
  setting: text('Name of the setting of the service, as on the command line.'),
  value: number('Value of the setting.'),
  words: text('Description of the limit, for people.'),
});

export const TeamLimits = shape(
  'TeamLimits',
  {
    plan: tier,
    canRaise: boolean('True if an Admin may raise the plan. Otherwise only the operator of the service may raise it.'),
    allowances: list(Allowance, 'Limits of the plan, and the number in use for each limit.'),
    settings: list(ServiceLimit, 'Limits of the service. An application can have a lower rate.'),
  },
  {
    plan: 'team',
    canRaise: false,
    allowances: [
      { what: 'members', words: 'members in a team', allowed: 100, used: 4, application: null },
      { what: 'keys', words: 'keys of an application', allowed: 50, used: 3, application: 'Shop' },
    ],
    settings: [{ setting: '--api-rate', value: 100, words: 'Maximum API requests per second of a client' }],
  },
);
export type TeamLimits = Static<typeof TeamLimits>;
