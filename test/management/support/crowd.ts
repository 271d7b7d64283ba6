import type { Wanted } from './recipe.ts';
import type { World } from './world.ts';

/** Number of teams, and of requests per team: more than may wait. */
const sizes = { reports: { teams: 12, each: 20 }, passwords: { teams: 6, each: 18 } };

/** Returns concurrent requests of many teams, which fill the queue of reports or passwords. */
export async function crowdOf(world: World, what: 'reports' | 'passwords'): Promise<() => readonly Wanted[]> {
  const { teams, each } = sizes[what];
  const members: (() => Wanted)[] = [];
  for (let at = 0; at < teams; at += 1) {
    const { id } = await make(world, world.asAdmin, '/api/v2/teams', { name: `Crowd ${at}` });
    const wanted = { name: 'Crowd', role: 'Admin' };
    const key = await make(world, world.asAdmin, `/api/v2/teams/${id}/api-keys`, wanted);
    const apiKey = { clientId: key['clientId'] } as Parameters<World['tokenOf']>[0]['apiKey'];
    const authorization = `Bearer ${await world.tokenOf({ apiKey, clientSecret: key['clientSecret'] ?? '' })}`;
    const report = await reportOf(world, authorization);
    members.push(what === 'reports' ? () => report : () => passwordOf(authorization));
  }
  return () => members.flatMap((member) => Array.from({ length: each }, member));
}

async function reportOf(world: World, authorization: string): Promise<Wanted> {
  const { id } = await make(world, authorization, '/api/v2/applications', { name: 'Crowd' });
  const path = `/api/v2/applications/${id}/usage?environment=Production`;
  return { authorization, method: 'GET', path };
}

let people = 0;

function passwordOf(authorization: string): Wanted {
  people += 1;
  const body = { name: 'Crowd', email: `crowd-${people}@example.com`, password: 'a long password' };
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
