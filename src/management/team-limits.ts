import Type, { type Static } from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { countsOf } from '../accounts/plan-fit.ts';
import { limits, type PlanLimit } from '../accounts/plans.ts';
import { settings } from '../contract/config-schema.ts';
import { ok } from '../http/answer.ts';
import { count, flag, jsonAnswer, listOf, number, oneOf, orNull, shape, text } from '../http/schema.ts';
import type { Team } from '../storage/lmdb/records.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { plan } from './plan.ts';

/** The settings of the service that limit what its clients may send. */
const limiting = [
  ...(['rate', 'burst', 'apiRate', 'tokenRate', 'maxBody', 'maxReport'] as const),
  ...(['maxFeatures', 'maxVariants', 'maxMetrics'] as const),
];

export interface LimitDeps extends ManageDeps {
  /** `fixed`: only the operator of the service can raise a plan, not an Admin. */
  readonly plans: 'fixed' | 'open';
  readonly limits: Readonly<Record<(typeof limiting)[number], number>>;
}

const kinds = Object.keys(limits) as PlanLimit[];

const Allowance = Type.Object({
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

export const teamLimits = endpoint('GET /teams/:id/limits', {
  access: { within: 'team', least: 'User' },
  operationId: 'getTeamLimits',
  summary: 'Read what the plan and the service allow a team',
  answers: { 200: jsonAnswer(TeamLimits, 'The limits.') },
  handle: ({ directory, team }, { plans, limits }: LimitDeps) =>
    ok({
      plan: team.plan,
      canRaise: plans === 'open',
      allowances: allowances(directory, team),
      settings: limiting.map((key) => {
        const { flag, schema } = settings.find((setting) => setting.key === key)!;
        return { setting: `--${flag}`, value: limits[key], words: schema.description };
      }),
    }),
});

function allowances(accounts: Accounts, { id, plan }: Team): Static<typeof Allowance>[] {
  const counts = [...countsOf(accounts, id)];
  return kinds.map((what) => {
    const [most] = counts.filter((each) => each.what === what).sort((a, b) => b.count - a.count);
    const { words, [plan]: allowed } = limits[what];
    return { what, words, allowed, used: most?.count ?? 0, application: most?.of ?? null };
  });
}
