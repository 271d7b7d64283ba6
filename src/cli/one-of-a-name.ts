import type { Api, Item } from './api.ts';
import { Failure } from './failure.ts';
import { printable } from './printable.ts';
import { fieldsOf } from './send.ts';

/**
 * Refuses a second application of the same name in a team, which no one could tell from the first. The API allows it,
 * because applications are identified by their id.
 * @param id of the application that gets the name; `undefined` for a new one
 * @param teamId of a new one; by default the caller's primary team
 * @throws {Failure} `conflict`, with the id of the first
 */
export async function checkOnlyOne(
  api: Api,
  name: unknown,
  { id, teamId }: { readonly id?: string; readonly teamId?: unknown },
): Promise<void> {
  const items = await api.list(['applications']);
  const named = items.filter((item) => item['name'] === name && item['id'] !== id);
  if (named.length === 0) return;
  const team = await teamOf(api, items, id, teamId);
  const first = named.find((item) => item['teamId'] === team);
  if (first === undefined) return;
  throw new Failure(
    'conflict',
    printable(`The team already has an application ${name} (${first['id']}); use it, or choose another name`),
  );
}

async function teamOf(
  api: Api,
  items: readonly Item[],
  id: string | undefined,
  teamId: unknown,
): Promise<unknown> {
  if (id !== undefined) return items.find((item) => item['id'] === id)?.['teamId'];
  return teamId ?? fieldsOf(await api.call('GET', ['users', 'me']))['primaryTeam'];
}
