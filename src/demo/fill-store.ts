import type { DirectorySources } from '../accounts/directory.ts';
import { newPassword } from '../accounts/passwords.ts';
import { type FirstCredentials, prepareData } from '../accounts/prepare.ts';
import type { Config } from '../runtime/config.ts';
import { limitsOf, retentionOf } from '../serve/limits.ts';
import { type AccountStore, openAccountStore } from '../storage/lmdb/accounts.ts';
import { openDigestSecret } from '../storage/lmdb/instances.ts';
import { openUsageStore } from '../storage/lmdb/usage.ts';
import { writeHistory } from './history.ts';
import { makeShop, type Shop } from './shop.ts';
import { type Story, tellStory } from './story.ts';

/** A store that is full of the made-up shop's data. */
export interface FilledStore {
  readonly credentials: FirstCredentials;
  /** Open. */
  readonly accounts: AccountStore;
  readonly shop: Shop;
  readonly story: Story;
}

const minuteMs = 60_000;

/**
 * Prepares the data directory of the settings and fills it.
 * @param seed decides what the data is
 * @throws {Error} when the disk fails, or when it is told to stop; the stores are closed then
 */
export async function fillStore(
  config: Config,
  seed: number,
  { clock, randomBytes }: DirectorySources,
  stopping: AbortSignal,
): Promise<FilledStore> {
  const credentials = await prepareData(config.data, {
    adminEmail: 'demo@localhost',
    // Given, so that it need not be replaced: the store is as short-lived as the terminal that shows it.
    adminPassword: newPassword(randomBytes),
    clock,
    randomBytes,
  });
  const accounts = openAccountStore(config.data);
  const usage = openUsageStore(config.data);
  try {
    const shop = await makeShop(accounts, { clock, randomBytes });
    const until = Math.floor(clock.now() / minuteMs);
    const story = tellStory(seed, until);
    const secret = openDigestSecret(usage, randomBytes);
    const kept = { retention: retentionOf(config), limits: limitsOf(config) };
    await writeHistory({ usage, shop, story, ...kept, secret, until, stopping });
    return { credentials, accounts, shop, story };
  } catch (error) {
    await accounts.lmdb.close();
    throw error;
  } finally {
    await usage.lmdb.close();
  }
}
