import Type from 'typebox';
import { limits, type PlanLimit } from '../plans.ts';
import {
  bodyShape,
  count,
  exampleIds,
  exampleTime,
  flag,
  listOf,
  name,
  number,
  oneOf,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';

const plan = Type.Union([Type.Literal('free'), Type.Literal('team'), Type.Literal('enterprise')], {
  description:
    'How much the team may have. Unless the service runs with `--plans open`, an Admin can only lower it.',
});

export const Team = shape(
  'Team',
  {
    id: text('Its id.'),
    name: name(),
    plan,
    createdAt: time('When it was created.'),
    updatedAt: time('When it was last changed.'),
  },
  { id: exampleIds.team, name: 'Shop', plan: 'team', createdAt: exampleTime, updatedAt: exampleTime },
);

export const NewTeam = bodyShape(
  'NewTeam',
  { name: name(), plan: Type.Optional(plan) },
  { name: 'Shop', plan: 'team' },
);

export const TeamPatch = bodyShape(
  'TeamPatch',
  { name: Type.Optional(name()), plan: Type.Optional(plan) },
  { plan: 'enterprise' },
);

export const kinds = Object.keys(limits) as PlanLimit[];

export const Allowance = Type.Object({
  what: oneOf(kinds, 'What is limited.'),
  words: text('The same in words.'),
  allowed: count('How many the plan allows: of a team, or of each of its applications.'),
  used: count('How many there are; of what applications have, in the application that has most.'),
  application: orNull(text('Name of that application; `null` where the limit is of the team.')),
});

const ServiceLimit = Type.Object({
  setting: text('The setting of the service, as its command line has it.'),
  value: number('Its value.'),
  words: text('What it limits.'),
});

export const TeamLimits = shape(
  'TeamLimits',
  {
    plan,
    canRaise: flag('Whether an Admin may raise the plan. Otherwise only the operator of the service can.'),
    allowances: listOf(Allowance, 'What the plan allows, and how much of it is used.'),
    settings: listOf(
      ServiceLimit,
      'What the service allows. An application can have a lower rate of its own.',
    ),
  },
  {
    plan: 'team',
    canRaise: false,
    allowances: [
      { what: 'members', words: 'members in a team', allowed: 100, used: 4, application: null },
      { what: 'keys', words: 'keys of an application', allowed: 50, used: 3, application: 'Shop' },
    ],
    settings: [{ setting: '--api-rate', value: 100, words: 'API requests a second of one client' }],
  },
);
