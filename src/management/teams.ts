import type { Accounts } from '../accounts/accounts.ts';
import { mustExist, nameRule } from '../accounts/checks.ts';
import { findMember, lastAdmin, listAdmins, listMembers, putMember, removeMember } from '../accounts/members.ts';
import {
  countResources,
  createTeam,
  deleteTeam,
  findOrigin,
  hasApplications,
  isInstallationAdmin,
  patchTeam,
} from '../accounts/teams.ts';
import { defaultTier, describeTierLimit, isMore } from '../accounts/tiers.ts';
import { settings } from '../contract/config-schema.ts';
import { Refusal } from '../contract/errors.ts';
import { type Allowance, kinds, NewTeam, Team, TeamLimits, TeamPatch } from '../contract/shapes/team.ts';
import { Member, MemberPut } from '../contract/shapes/user.ts';
import { limits, type Tier } from '../contract/tiers.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { noContent, ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Team as StoredTeam } from '../storage/lmdb/records.ts';
import { checkManages } from './access.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import { checkMatch, created, done, made, oneTagged, page, tagged } from './responses.ts';
import { limitSettings, type Services } from './services.ts';
import { ownRole, showMember } from './users.ts';

const teamLimits = endpoint('GET /teams/:id/limits', {
  access: { within: 'team', least: 'Viewer' },
  operationId: 'getTeamLimits',
  summary: 'Read the limits of a team',
  responses: { 200: jsonResponse(TeamLimits, 'The limits.') },
  handle: ({ directory, team }, { plans, limits }) =>
    ok({
      plan: team.plan,
      canRaise: plans === 'open',
      allowances: allowances(directory, team),
      settings: limitSettings.map((key) => {
        const { option, schema } = settings.find((setting) => setting.key === key)!;
        return { setting: `--${option}`, value: limits[key], words: schema.description };
      }),
    }),
});

function allowances(accounts: Accounts, { id, plan }: StoredTeam): Allowance[] {
  const counts = [...countResources(accounts, id)];
  return kinds.map((what) => {
    const [most] = counts.filter((each) => each.what === what).sort((a, b) => b.count - a.count);
    const { words, [plan]: allowed } = limits[what];
    return { what, words, allowed, used: most?.count ?? 0, application: most?.of ?? null };
  });
}

const noFounder = 'The team of this API key lacks an Admin to join the new team; add an Admin first';

export const teams: Group = {
  tag: 'Teams',
  description: 'A team owns applications, and its members manage them.',
  endpoints: [
    endpoint('GET /teams', {
      access: { within: 'service', least: 'Viewer', scope: 'ingest-adopt', bound: true },
      operationId: 'listTeams',
      summary: 'List your teams',
      query: paging,
      responses: { 200: page(Team, 'The oldest team comes first.') },
      handle({ directory, caller, query }) {
        const visible = [...directory.teams.values()].filter(({ id }) => caller.teams.includes(id));
        return ok(createPage(visible, query, show));
      },
    }),
    endpoint('POST /teams', {
      access: { within: 'service', least: 'Admin' },
      operationId: 'createTeam',
      summary: 'Create a team',
      description:
        'Requires an Admin of the primary team. The user who creates the team is its first member, as an Admin. If an API key creates the team, the Admins of the team of the key become members. Plans limit the number of teams that the Admins and API keys of a team create, including the teams created by those teams. This limit does not apply to Admins of the first team, who run the installation, if they sign in as users.',
      body: NewTeam,
      responses: { 201: made(Team, 'The team.') },
      refuses: {
        invalid_name: nameRule('a team'),
        conflict: noFounder,
        plan_limit: describeTierLimit('free', 'teams'),
      },
      async handle({ directory, caller, callerIn, body }, { plans }) {
        const own = directory.teams.get(caller.primaryTeam)?.plan ?? 'free';
        checkRise(plans, body.plan, own);
        const tier = body.plan ?? (plans === 'open' ? defaultTier : own);
        const managed = directory.under({
          check: (tx) => checkManages('team', tx, callerIn(tx).primaryTeam, callerIn(tx)),
        });
        const team = await createTeam(managed, body.name, {
          plan: tier,
          listFounders: (accounts) => listFounders(accounts, callerIn(accounts)),
          findOrigin: (accounts) => chargedTeam(accounts, callerIn(accounts)),
        });
        return created(['teams', team.id], show(team));
      },
    }),
    endpoint('GET /teams/:id', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'getTeam',
      summary: 'Read a team',
      responses: { 200: oneTagged(Team, 'The team.') },
      handle: ({ team }) => tagged(show(team)),
    }),
    teamLimits,
    endpoint('PATCH /teams/:id', {
      access: { within: 'team', least: 'Admin', recent: 'partly' },
      operationId: 'changeTeam',
      summary: 'Change a team',
      description: 'A change of the plan or of the second factor requires a recent sign-in.',
      body: TeamPatch,
      matches: true,
      responses: { 200: oneTagged(Team, 'The team after the change.') },
      refuses: {
        invalid_name: nameRule('a team'),
        conflict: 'The team exceeds the limits of the plan free: 4 applications in a team, where the plan allows 3',
      },
      async handle({ directory, team: { id }, request, body, checkRecent }, { plans }) {
        if (body.plan !== undefined || body.secondFactor !== undefined) checkRecent();
        const matched = directory.under({
          check(tx) {
            const team = mustExist('team', tx.teams.get(id));
            checkMatch(request, show(team));
            checkRise(plans, body.plan, team.plan);
          },
        });
        return tagged(show(await patchTeam(matched, id, body)));
      },
    }),
    endpoint('DELETE /teams/:id', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'deleteTeam',
      summary: 'Delete a team with its API keys, sign-in clients and webhooks',
      description: 'A team with applications, or with members who are not in another team, cannot be deleted.',
      responses: { 204: done('The team is deleted.') },
      refuses: { conflict: hasApplications },
      handle: ({ directory, team }) => deleteTeam(directory, team.id),
    }),
  ],
};

function show({ id, name, plan, secondFactor = 'optional', createdAt, updatedAt }: StoredTeam): Team {
  return { id, name, plan, secondFactor, createdAt: timeText(createdAt), updatedAt: timeText(updatedAt) };
}

/** Checks that a request may raise a plan, by changing or creating a team. @throws {Refusal} `forbidden` */
function checkRise(plans: Services['plans'], wanted: Tier | undefined, from: Tier): void {
  if (plans === 'open' || wanted === undefined || !isMore(wanted, from)) return;
  throw new Refusal('forbidden', 'Only the operator of the service can raise plans, with --plans open');
}

/** Returns the team whose limit a new team counts against; `undefined` for Admins of the installation. */
function chargedTeam(accounts: Accounts, caller: Call['caller']): string | undefined {
  if (accounts.users.has(caller.id) && isInstallationAdmin(accounts, caller)) return undefined;
  return findOrigin(accounts, caller.primaryTeam);
}

/** Returns the first members of a team: the user who creates the team, or the Admins of the calling API key's team. */
function listFounders(accounts: Accounts, { id, primaryTeam }: Call['caller']): readonly string[] {
  if (accounts.users.has(id)) return [id];
  const admins = listAdmins(accounts, primaryTeam).map((member) => member.id);
  if (admins.length > 0) return admins;
  throw new Refusal('conflict', noFounder);
}

const onlyTeam = 'This is your only team, and a user without a team is deleted. Another Admin can remove you';

export const members: Group = {
  tag: 'Members',
  description: 'The users in a team.',
  endpoints: [
    endpoint('GET /teams/:id/members', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'listMembers',
      summary: 'List the members of a team',
      query: paging,
      responses: { 200: page(Member, 'The oldest user comes first.') },
      handle: ({ directory, caller, team, query }, services) =>
        ok(createPage(listMembers(directory, team.id), query, (user) => showMember(services, user, caller, team.id))),
    }),
    endpoint('GET /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'getMember',
      summary: 'Read a member',
      responses: { 200: jsonResponse(Member, 'The member.') },
      handle: ({ directory, caller, team, params }, services) =>
        ok(showMember(services, findMember(directory, team.id, params.userId), caller, team.id)),
    }),
    endpoint('PUT /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'addMember',
      summary: 'Add a user to a team, or change the role of a member',
      description: 'You can add a user if you are an Admin of another of their teams. The body may be empty.',
      body: MemberPut,
      bodyOptional: true,
      responses: {
        200: jsonResponse(Member, 'The user was already a member.'),
        201: made(Member, 'The user was added to the team.'),
      },
      refuses: { plan_limit: describeTierLimit('free', 'members'), conflict: lastAdmin('Shop') },
      async handle({ directory, caller, callerIn, team, params: { userId }, body: { role } }, services) {
        // An Admin may add only users whom they already manage, and must not change their own role.
        const ofKnown = directory.under({
          check(tx) {
            checkManages('user', tx, userId, callerIn(tx));
            const own = userId === caller.id ? callerIn(tx).roleIn(team.id) : role;
            if (role !== undefined && role !== own) throw new Refusal('forbidden', ownRole);
          },
        });
        const { user, added } = await putMember(ofKnown, team.id, userId, role);
        const shown = showMember(services, user, caller, team.id);
        return added ? created(['teams', team.id, 'members', userId], shown) : ok(shown);
      },
    }),
    endpoint('DELETE /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'removeMember',
      summary: 'Remove a user from a team',
      description: 'A user without another team is deleted.',
      responses: { 204: done('The user is no longer a member.') },
      refuses: { conflict: onlyTeam },
      async handle({ directory, caller, team, params }) {
        const { userId } = params;
        const withoutSelf = directory.under({
          check(tx) {
            const { id, teams } = findMember(tx, team.id, userId);
            if (id === caller.id && teams.length === 1) throw new Refusal('conflict', onlyTeam);
          },
        });
        await removeMember(withoutSelf, team.id, userId);
        return noContent;
      },
    }),
  ],
};
