import { Refusal } from '../errors.ts';
import type { Team } from '../store/records.ts';
import { apiKeysOf } from './api-keys.ts';
import { applicationsOf } from './applications.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { newId, type RandomBytes } from './secrets.ts';

/** Makes a team. @throws {Refusal} `invalid_name` */
export function createTeam(directory: Directory, name: string): Promise<Team> {
  return directory.change((draft) => {
    checkName('a team', name);
    const team = newTeam(name, directory.clock.now(), directory.randomBytes);
    draft.put('teams', team.id, team);
    return team;
  });
}

/** Renames a team. @throws {Refusal} `not_found`, `invalid_name` */
export function renameTeam(directory: Directory, id: string, name: string): Promise<Team> {
  return directory.change((draft) => {
    const team = { ...mustExist('team', directory.teams.get(id)), name };
    checkName('a team', name);
    draft.put('teams', id, team);
    return team;
  });
}

/** Deletes a team and its API keys. @throws {Refusal} `not_found`, `conflict` while it has applications */
export function deleteTeam(directory: Directory, id: string): Promise<void> {
  return directory.change((draft) => {
    mustExist('team', directory.teams.get(id));
    if (applicationsOf(directory, id).length > 0) {
      throw new Refusal('conflict', 'The team has applications; delete them first');
    }
    draft.remove('teams', id);
    for (const { clientId } of apiKeysOf(directory, id)) draft.remove('apiKeys', clientId);
  });
}

/** A team that is not stored yet. */
export function newTeam(name: string, now: number, randomBytes: RandomBytes): Team {
  return { id: newId('team', randomBytes), name, createdAt: now };
}
