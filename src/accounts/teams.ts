import { Refusal } from '../errors.ts';
import type { AuditEntry, Team } from '../store/records.ts';
import { apiKeysOf } from './api-keys.ts';
import { applicationsOf } from './applications.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { usualPlan } from './plans.ts';
import { newId, type RandomBytes } from './secrets.ts';

/** Makes a team. @throws {Refusal} `invalid_name` */
export function createTeam(directory: Directory, name: string): Promise<Team> {
  return directory.change((draft) => {
    checkName('a team', name);
    const now = directory.clock.now();
    const team = newTeam({ name, number: draft.takeNumber('team') }, now, directory.randomBytes);
    draft.put('teams', team.id, team);
    draft.note('team.created', team.id, targetOf(team));
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
export function newTeam(wanted: Pick<Team, 'name' | 'number'>, now: number, randomBytes: RandomBytes): Team {
  return { id: newId('team', randomBytes), ...wanted, plan: usualPlan, createdAt: now, updatedAt: now };
}

function targetOf({ id, name }: Team): AuditEntry['target'] {
  return { type: 'team', id, name };
}
