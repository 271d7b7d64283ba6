import type { DocumentedRequest, Recipe } from './recipe.ts';
import type { World } from './world.ts';

/** Number of teams, and of requests per team. In total, the requests exceed the capacity of the queue. */
const sizes = { reports: { teams: 12, each: 20 }, passwords: { teams: 6, each: 18 } };

/** Returns concurrent requests of many teams, which fill the queue of reports or passwords. */
export async function createCrowd(
  world: World,
  what: 'reports' | 'passwords',
): Promise<() => readonly DocumentedRequest[]> {
  const { teams, each } = sizes[what];
  const members = (await openTeams(world, teams)).map((team) =>
    what === 'reports' ? () => requestReport(team) : () => requestPassword(team),
  );
  return () => members.flatMap((member) => Array.from({ length: each }, member));
}

/** A team with an application. */
interface Team {
  /** The `Authorization` header of its Admin. */
  readonly authorization: string;
  /** The route of its application. */
  readonly application: string;
}

/** Recipes for report requests, which are repeated until the queue is full. */
export const crowdedReports: Readonly<Record<string, Recipe>> = {
  // Each request has a different range, because equal requests share a result for a second.
  'GET /applications/:id/overview backpressure': async (_world, { path }) => ({
    again: (time) => ({ path: `${path}&from=${new Date(Date.now() - (time + 1) * 3_600_000).toISOString()}` }),
  }),
  'GET /home backpressure': (world) => byOtherTeams(world, ({ authorization }) => ({ authorization })),
  'GET /applications/:id/health backpressure': (world) =>
    byOtherTeams(world, ({ authorization, application }) => ({ authorization, path: `${application}/health` })),
};

/** Repeats a request for different teams, because all requests of one team share a result for seconds. */
async function byOtherTeams(
  world: World,
  wanted: (team: Team) => Partial<DocumentedRequest>,
): Promise<Partial<DocumentedRequest>> {
  const teams = await openTeams(world, 20);
  return { again: (time) => wanted(teams[time % teams.length]!) };
}

async function openTeams(world: World, count: number): Promise<readonly Team[]> {
  const teams: Team[] = [];
  for (let at = 0; at < count; at += 1) {
    const { id: team } = await make(world, world.asAdmin, '/api/v2/teams', { name: `Crowd ${at}` });
    const wanted = { name: 'Crowd', role: 'Admin' };
    const key = await make(world, world.asAdmin, `/api/v2/teams/${team}/api-keys`, wanted);
    const apiKey = { clientId: key['clientId'] } as Parameters<World['fetchToken']>[0]['apiKey'];
    const authorization = `Bearer ${await world.fetchToken({ apiKey, clientSecret: key['clientSecret'] ?? '' })}`;
    const { id } = await make(world, authorization, '/api/v2/applications', { name: 'Crowd' });
    teams.push({ authorization, application: `/api/v2/applications/${id}` });
  }
  return teams;
}

function requestReport({ authorization, application }: Team): DocumentedRequest {
  return { authorization, method: 'GET', path: `${application}/usage?environment=Production` };
}

let userCount = 0;

function requestPassword({ authorization }: Team): DocumentedRequest {
  userCount += 1;
  const body = { name: 'Crowd', email: `crowd-${userCount}@example.com`, password: 'a long password' };
  return { authorization, method: 'POST', path: '/api/v2/users', body };
}

async function make(
  { send }: World,
  authorization: string,
  path: string,
  body: object,
): Promise<Record<string, string>> {
  return (await send(authorization, 'POST', path, body)).json() as Promise<Record<string, string>>;
}
