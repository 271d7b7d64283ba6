import type { Static } from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { countsOf } from '../accounts/plan-fit.ts';
import { settings } from '../contract/config-schema.ts';
import { limits } from '../contract/plans.ts';
import { type Allowance, kinds, TeamLimits } from '../contract/shapes/team.ts';
import { ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import type { Team } from '../storage/lmdb/records.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';

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
