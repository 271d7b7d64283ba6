import { Field } from '../../parts/form.tsx';
import type { Team } from './shapes.ts';

export interface TeamFieldProps {
  readonly teams: readonly Pick<Team, 'id' | 'name'>[];
  readonly value: string | undefined;
  readonly name?: string;
  readonly label?: string;
}

/** A choice among the reader's teams. Who is in one only has no choice, and does not see it. */
export function TeamField({ teams, value, name = 'teamId', label = 'Team' }: TeamFieldProps) {
  if (teams.length < 2) return null;
  return (
    <Field
      name={name}
      label={label}
      control={(properties) => (
        <select {...properties}>
          {teams.map((team) => (
            <option key={team.id} value={team.id} selected={team.id === value}>
              {team.name}
            </option>
          ))}
        </select>
      )}
    />
  );
}
