import { setImmediate as turn } from 'node:timers/promises';
import Type from 'typebox';
import type { Directory } from '../accounts/directory.ts';
import { nearest } from '../contract/nearest.ts';
import { byRank, rankName, searchWords } from '../contract/search-rank.ts';
import { text } from '../contract/shapes/fields.ts';
import { type SearchResult, SearchResults } from '../contract/shapes/search.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { type Caller, visibleTo } from './access.ts';
import { endpoint, type Group } from './endpoint.ts';
import { consolePath } from './responses.ts';
import type { Services } from './services.ts';
import { byTeam } from './team-figures.ts';

const maxText = 200;
const limits = { usual: 20, most: 100 };

/** Number of declared features to compare before other requests are processed. */
const atOnce = 200;
/** Maximum number of declared features that one search compares. */
const maxCompared = 500_000;
/** Maximum number of declared features that are compared for a suggestion if a search has no results. */
const maxMeasured = 20_000;

interface RankedResult extends SearchResult {
  readonly rank: number;
}

/** `/api/v2/search`. */
export const search: Group = {
  tag: 'Search',
  description: 'Search in all applications.',
  endpoints: [
    endpoint('GET /search', {
      access: { within: 'service', least: 'Viewer', bound: true },
      operationId: 'search',
      summary: 'Search features, application keys and users by name',
      description:
        'A result contains all words. Names that begin with the text come first, then names with a word that begins with the text. Keys are also found by their first characters, users by their e-mail address. Without results, `similar` is the declared feature with the most similar name.',
      query: {
        q: Type.String({ minLength: 1, maxLength: maxText, description: 'Words to search for.' }),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: limits.most,
            description: `Maximum number of results (default ${limits.usual}).`,
          }),
        ),
        application: Type.Optional(text('Among equally good results, the results of this application come first.')),
      },
      responses: { 200: jsonResponse(SearchResults, 'The results.') },
      refuses: { invalid_query: 'q is missing', backpressure: tooManyReports },
      async handle({ directory, caller, query }, { reports }) {
        const words = searchWords(query.q);
        const { limit = limits.usual, application: first } = query;
        if (words.length === 0) return ok({ items: [], complete: true });
        const applications = visibleTo(caller, directory).sort(
          (a, b) => Number(b.id === first) - Number(a.id === first),
        );
        const features = await findFeatures(directory, reports, applications, { words, limit });
        const found = [
          ...features.found,
          ...findKeys(directory, applications, words),
          ...findUsers(directory, caller, words),
        ];
        const isFirst = ({ application }: RankedResult) => Number(application?.id === first);
        found.sort((a, b) => a.rank - b.rank || isFirst(b) - isFirst(a) || byRank(a, b));
        const items = found.slice(0, limit).map(({ rank: _, ...result }) => result);
        const similar = items.length === 0 ? await findSimilar(directory, applications, query.q) : undefined;
        return ok({ items, complete: features.complete, ...(similar && { similar }) });
      },
    }),
  ],
};

/** Finds features: the report worker searches features seen in packets, and this thread searches declared features. */
async function findFeatures(
  directory: Directory,
  reports: Services['reports'],
  applications: readonly Application[],
  { words, limit }: { readonly words: readonly string[]; readonly limit: number },
) {
  const seen = await Promise.all(
    [...byTeam(applications)].map(([team, own]) => {
      const numbers = own.map(({ number, environments }) => ({
        number,
        environments: environments.map((each) => each.number),
      }));
      return reports.make(team, 'names', { words, limit, applications: numbers });
    }),
  );
  const byNumber = new Map(applications.map((application) => [application.number, application]));
  const found = new Map<string, RankedResult>();
  const add = (application: Application, name: string, rank: number) =>
    found.set(`${application.number} ${name}`, featureFound(application, name, rank));
  for (const { application, name, rank } of seen.flatMap((each) => each.found)) {
    const owner = byNumber.get(application);
    if (owner !== undefined) add(owner, name, rank);
  }
  const isComplete = await compareDeclared(directory, applications, words, add);
  return { found: [...found.values()], complete: isComplete && seen.every(({ complete }) => complete) };
}

/** @returns false if there were too many features to compare all of them */
async function compareDeclared(
  { getFeatures }: Directory,
  applications: readonly Application[],
  words: readonly string[],
  take: (application: Application, name: string, rank: number) => void,
): Promise<boolean> {
  let compared = 0;
  for (const application of applications)
    for (const name of getFeatures(application.id).keys()) {
      const rank = rankName(name, words);
      if (rank !== undefined) take(application, name, rank);
      compared += 1;
      if (compared >= maxCompared) return false;
      if (compared % atOnce === 0) await turn();
    }
  return true;
}

/** Finds the declared feature with the most similar name. Among equally similar names, the first one wins. */
async function findSimilar(
  { getFeatures }: Directory,
  applications: readonly Application[],
  text: string,
): Promise<SearchResult | undefined> {
  let best: { readonly name: string; readonly application: Application } | undefined;
  let compared = 0;
  for (const application of applications) {
    const names = [...getFeatures(application.id).keys()];
    for (let at = 0; at < names.length && compared < maxMeasured; at += atOnce) {
      const some = names.slice(at, at + atOnce);
      const name = nearest(text, best === undefined ? some : [best.name, ...some]);
      if (name !== undefined && name !== best?.name) best = { name, application };
      compared += some.length;
      await turn();
    }
  }
  if (best === undefined) return undefined;
  const { rank: _, ...result } = featureFound(best.application, best.name, 0);
  return result;
}

function featureFound({ id, name: owner, environments }: Application, name: string, rank: number): RankedResult {
  const application = { id, name: owner };
  const [environment] = environments;
  const link =
    environment === undefined
      ? consolePath({ path: ['apps', id], query: { flag: name } })
      : consolePath({ path: ['apps', id, environment.name, 'flag'], query: { name } });
  return { type: 'feature', name, detail: null, application, link, rank };
}

function findKeys(
  { getApplicationKeys }: Directory,
  applications: readonly Application[],
  words: readonly string[],
): RankedResult[] {
  return applications.flatMap(({ id, name: owner }) =>
    getApplicationKeys(id).flatMap((key): RankedResult[] => {
      const rank = bestRank([key.name, key.prefix], words);
      if (rank === undefined) return [];
      const link = consolePath({ path: ['settings', 'application'], query: { app: id, key: key.id } });
      const application = { id, name: owner };
      return [{ type: 'key', name: key.name || key.prefix, detail: key.prefix, application, link, rank }];
    }),
  );
}

/** Finds users of the caller's teams. Finds none for an API key that is bound to applications. */
function findUsers({ users }: Directory, caller: Caller, words: readonly string[]): RankedResult[] {
  if (caller.apiKey?.applications !== undefined) return [];
  const teams = new Set(caller.teams);
  return [...users.values()].flatMap((user): RankedResult[] => {
    const team = user.teams.find((id) => teams.has(id));
    const rank = team === undefined ? undefined : bestRank([user.name, user.email], words);
    if (team === undefined || rank === undefined) return [];
    const link = consolePath({ path: ['settings', 'team'], query: { team } });
    return [{ type: 'user', name: user.name || user.email, detail: user.email, application: null, link, rank }];
  });
}

function bestRank(names: readonly string[], words: readonly string[]): number | undefined {
  const ranks = names.flatMap((name) => rankName(name, words) ?? []);
  return ranks.length === 0 ? undefined : Math.min(...ranks);
}
