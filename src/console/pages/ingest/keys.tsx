import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { applicationSettingsAddress } from '../../address/address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';

const everyMs = 10_000;

export function useKeys(app: string): readonly ApplicationKey[] {
  const path = resource('applications', app, 'keys');
  const read = (query: object) =>
    usePoll<{ readonly items: readonly ApplicationKey[] }>(withQuery(path, { limit: 200, ...query }), everyMs).data
      ?.items ?? [];
  return [...read({}), ...read({ revoked: true })];
}

interface KeyLinkProps {
  readonly app: string;
  readonly of: Pick<ApplicationKey, 'id' | 'name' | 'revokedAt'>;
}

/** The name of a key, with a link to its row in the settings. */
export function KeyLink({ app, of: { id, name, revokedAt } }: KeyLinkProps) {
  return (
    <>
      <a href={applicationSettingsAddress(app, id)}>{name}</a>
      {revokedAt !== undefined && <span class="quiet"> (revoked)</span>}
    </>
  );
}
