import Type from 'typebox';
import { declarationKey } from '../accounts/declarations.ts';
import { type ActivityKind, activityKindNames } from '../contract/activity.ts';
import { Refusal } from '../contract/errors.ts';
import { ActivityItem } from '../contract/shapes/activity.ts';
import { type Page, text } from '../contract/shapes/fields.ts';
import { namePage, paging } from '../http/lists.ts';
import type { QueryOf } from '../http/query-reader.ts';
import { changeFact, noteFact, type ShowActor, stepFacts } from '../reports/activity/change-facts.ts';
import { type ActivityFilter, type Fact, pageOfFacts } from '../reports/activity/facts.ts';
import { listColumns } from '../reports/exports/row-writer.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { emptyRange, range } from '../reports/usage/report-range.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Application, AuditEntry } from '../storage/lmdb/records.ts';
import type { Caller } from './access.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironment, unknownEnvironment } from './environments.ts';
import { format, orInRows, respondWithRows, rowsWanted } from './format.ts';
import { page } from './responses.ts';

/** Maximum number of rows of an export. */
const maxRows = 10_000;
const weekMs = 7 * 86_400_000;

const filters = {
  feature: Type.Optional(text('Only items of this feature.')),
  kind: Type.Array(Type.String(), {
    default: [],
    maxItems: activityKindNames.length,
    description: `Only items of this kind, which is one of ${activityKindNames.map((kind) => `\`${kind}\``).join(', ')}. Repeat the parameter for several kinds.`,
  }),
  actor: Type.Optional(text('Only changes by the user or API key with this id.')),
  search: Type.Optional(text('Only items whose text or names contain this text.')),
};

const query = { ...paging, ...anyEnvironment.query, ...range, ...filters, ...format };

const columns = {
  ...listColumns(ActivityItem),
  by: { description: 'Name of the author, or the kind of author if the caller may not see the name.', example: null },
};

/** `/api/v2/applications/{id}/activity`. */
export const activity: Group = {
  tag: 'Activity',
  description: 'Changes that people made in an application, and changes in its data.',
  endpoints: [
    endpoint('GET /applications/:id/activity', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listActivity',
      counted: 'any',
      summary: 'List the changes of an application and of its data',
      description: `Without \`to\`, the list ends now; without \`from\`, it covers seven days. With \`environment\`, it includes items that concern all environments.
Shifts of splits and of traffic are found for the last 100 complete UTC days, refusals for 90 days. CSV and NDJSON are not paged, and have at most ${maxRows} rows.`,
      query,
      responses: { 200: orInRows(page(ActivityItem, 'The latest item comes first.'), columns) },
      refuses: { unknown_environment: unknownEnvironment, backpressure: tooManyReports },
      async handle(call, { reports, accounts, recentChanges, directory }) {
        const { application, caller, query } = call;
        const filter = readFilter(application, query, directory.clock.now(), rowsWanted(call) && maxRows);
        const showActor = actorsFor(caller, application, directory.users);
        const entries = (await recentChanges.of(application.id)).filter(
          ({ actor }) => query.actor === undefined || (actor.id === query.actor && showActor(actor).name !== null),
        );
        const facts: Fact[] = entries.map((entry) => changeFact(entry, showActor));
        const data = query.actor === undefined;
        const keys = directory.getApplicationKeys(application.id);
        if (data) {
          for (const fact of notesIn(accounts, application.id, query.feature)) facts.push(fact);
          for (const feature of directory.getFeatures(application.id).values()) facts.push(...stepFacts(feature));
          for (const key of keys) {
            const at = directory.leakedAt(key);
            if (at !== null) facts.push(leakFact(key.id, key.name, at));
          }
        }
        const task = {
          ...filter,
          application: application.number,
          environments: application.environments,
          keys: new Map([...(application.revokedKeys ?? []), ...keys].map(({ id, name }) => [id, name])),
          changes: pageOfFacts(facts, filter),
          data,
          now: directory.clock.now(),
        };
        const made = await reports.make(application.teamId, 'activity', task);
        return respondWithRows<Page<ActivityItem>>(call, made, columns, ({ items }) =>
          items.map((item) => ({ ...item, by: item.by && (item.by.name ?? item.by.type) })),
        );
      },
    }),
  ],
};

/** @throws {Refusal} `invalid_query`, `unknown_environment` */
function readFilter(
  { environments }: Application,
  { limit, cursor, kind, search, feature, environment, ...span }: QueryOf<typeof query>,
  now: number,
  rows: number | undefined | false,
): ActivityFilter {
  const { to = now + 1, from = to - weekMs } = span;
  if (from >= to) throw new Refusal('invalid_query', emptyRange);
  const unknown = kind.find((each) => !(activityKindNames as readonly string[]).includes(each));
  if (unknown !== undefined) throw new Refusal('invalid_query', `kind must be one of ${activityKindNames.join(', ')}`);
  if (environment !== undefined) findEnvironment(environments, environment);
  const { after } = namePage({ limit, ...(cursor !== undefined && { cursor }) });
  return {
    from,
    to,
    environment,
    feature,
    after,
    kinds: kind as ActivityKind[],
    search: search?.toLowerCase(),
    limit: rows || limit,
  };
}

/**
 * Returns a function that shows authors to a caller. Admins see all names, as in the audit log. Other callers see their
 * own name, and the names of current members of the team.
 */
function actorsFor(
  caller: Caller,
  { teamId }: Application,
  users: ReadonlyMap<string, { teams: readonly string[] }>,
): ShowActor {
  const isAdmin = caller.roleIn(teamId) === 'Admin';
  return ({ type, id, name }: AuditEntry['actor']) => {
    const isKnown = isAdmin || type === 'system' || id === caller.id || users.get(id)?.teams.includes(teamId);
    return { type, name: isKnown ? name : null };
  };
}

/**
 * Returns the notes of all features of an application. Callers who may read a feature may also read its notes and their
 * authors.
 */
function* notesIn(
  { notes }: Pick<AccountTables, 'notes'>,
  applicationId: string,
  feature: string | undefined,
): Generator<Fact> {
  notes.resetReadTxn(); // Makes all writes acknowledged before this request visible.
  const key = declarationKey(applicationId, feature ?? '');
  const range = { start: key, end: feature === undefined ? `${applicationId}!` : `${key}\0` };
  for (const { key, value } of notes.getRange(range))
    for (const note of value)
      yield noteFact(key.slice(applicationId.length + 1), note, { type: 'user', name: note.by });
}

function leakFact(id: string, name: string, at: number): Fact {
  return { kind: 'key_leaked', at, key: [id], subject: name, text: `Key ${name} leaked: a browser sent it` };
}
