import { isTimeZone, unknownZone } from '../contract/calendar.ts';
import { Refusal } from '../contract/errors.ts';
import {
  defaultPreferences,
  maxColumnPages,
  type Preferences,
  type PreferencesPatch,
} from '../contract/shapes/preferences.ts';
import type { User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { checkLimit } from './checks.ts';

export function getPreferences({ preferences }: Pick<User, 'preferences'>): Preferences {
  return { ...defaultPreferences, ...preferences };
}

/**
 * Changes the given preferences in a transaction. Preferences are not in the audit log.
 * @throws {Refusal} `invalid_body`, `plan_limit`
 */
export function putPreferences(tx: AccountTransaction, user: User, patch: PreferencesPatch): Preferences {
  const { timeZone, columns, favourites } = patch;
  if (typeof timeZone === 'string' && !isTimeZone(timeZone))
    throw new Refusal('invalid_body', `\`timeZone\` must be valid: ${unknownZone(timeZone)}`);
  const known = getPreferences(user);
  const pages = Object.entries({ ...known.columns, ...columns }).filter(([, names]) => names !== null);
  checkLimit('pages with selected columns', pages.length, maxColumnPages);
  const preferences = {
    timeZone: timeZone === undefined ? known.timeZone : timeZone,
    columns: Object.fromEntries(pages) as Preferences['columns'],
    favourites: favourites ?? known.favourites,
  };
  tx.put('users', user.id, { ...user, preferences });
  return preferences;
}
