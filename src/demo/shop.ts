import { actorOf } from '../accounts/actors.ts';
import { createKey } from '../accounts/application-keys.ts';
import { createApplication } from '../accounts/applications.ts';
import { type Directory, type DirectorySources, openDirectory } from '../accounts/directory.ts';
import { addNote } from '../accounts/feature-notes.ts';
import type { FeaturePatch } from '../accounts/feature-settings.ts';
import { declareFeature, patchFeature } from '../accounts/features.ts';
import type { KeyHolder } from '../accounts/key-holder.ts';
import { declareMetric } from '../accounts/metrics.ts';
import { nobodysPasswordHash } from '../accounts/passwords.ts';
import { EmbeddedEngine } from '../accounts/store/embedded.ts';
import { createUser } from '../accounts/users.ts';
import type { AccountStore } from '../storage/lmdb/accounts.ts';
import type { Application, KeyType } from '../storage/lmdb/records.ts';
import { type DemoFlag, flags } from './flags.ts';
import { metrics } from './metrics.ts';
import { historyDays } from './rhythm.ts';
import { type KeyName, shopOrigin } from './senders.ts';

/** The application of the shop, and the texts of its keys. */
export interface Shop {
  readonly application: Application;
  readonly keys: Readonly<Record<KeyName, string>>;
  holderOf(key: KeyName): KeyHolder;
}

const dayMs = 86_400_000;
const leakedDaysAgo = 5;

/** Makes what a team has made over the months: applications, keys, declarations, colleagues. Each is as old as it would be. */
export async function makeShop(
  accounts: AccountStore,
  { clock, randomBytes }: DirectorySources,
): Promise<Shop> {
  let at = clock.now();
  const engine = new EmbeddedEngine(accounts, { ready: true, failed: () => {} });
  const past = { now: () => at, monotonic: () => clock.monotonic() };
  const system = openDirectory(engine, { clock: past, randomBytes });
  const [admin] = [...system.users.values()];
  const directory = system.by(actorOf(system, admin!.id, '127.0.0.1'));
  const goTo = (daysAgo: number) => {
    at = clock.now() - daysAgo * dayMs;
  };
  try {
    goTo(historyDays + 10);
    const teamId = admin!.primaryTeam;
    await Promise.all(
      colleagues.map((each) => createUser(directory, { ...each, ...noSignIn, teams: [teamId] })),
    );
    const application = await createApplication(directory, {
      name: 'Shop',
      teamId,
      allowedOrigins: [shopOrigin, 'https://*.shop.example'],
      acceptClientIdentities: true,
    });
    const keys = await makeKeys(directory, application.id);
    await Promise.all([
      ...metrics.map(({ name, kind, unit }) =>
        declareMetric(directory, application.id, name, { kind, unit }),
      ),
      ...flags.flatMap((flag) => declare(flag, directory, application.id, goTo)),
    ]);
    goTo(leakedDaysAgo);
    directory.markLeaked(directory.findKey(keys.leaked)!);
    await createApplication(directory, { name: 'Warehouse', teamId });
    return { application, keys, holderOf: (key) => system.findKey(keys[key])! };
  } finally {
    await engine.close();
  }
}

/** Makes the declaration of a flag and the notes about it, each at its time. */
function declare(
  flag: DemoFlag,
  directory: Directory,
  id: string,
  goTo: (daysAgo: number) => void,
): Promise<unknown>[] {
  const { name, description, came = historyDays + 5, archived, permanent, experiment, notes = [] } = flag;
  if (description === undefined) return [];
  goTo(came);
  const changes: Promise<unknown>[] = [declareFeature(directory, id, { name, description })];
  const patch = (patch: FeaturePatch) => changes.push(patchFeature(directory, id, name, patch));
  if (permanent) patch({ permanent });
  if (experiment) patch({ split: Object.keys(flag.shares(0)).map((variant) => [variant, 1]) });
  if (archived !== undefined) {
    goTo(archived);
    patch({ archived: true });
  }
  for (const [daysAgo, text] of notes) {
    goTo(daysAgo);
    changes.push(
      addNote(directory, id, name, { at: directory.clock.now(), environment: 'Production', text }),
    );
  }
  return changes;
}

/** They have accounts, but no password that anyone knows. */
const noSignIn = { passwordHash: nobodysPasswordHash } as const;

const colleagues = [
  { email: 'mia@shop.example', name: 'Mia Berg', role: 'Admin' },
  { email: 'leo@shop.example', name: 'Leo Tanaka', role: 'User' },
  { email: 'ada@shop.example', name: 'Ada Okafor', role: 'User' },
] as const;

async function makeKeys(directory: Directory, applicationId: string): Promise<Shop['keys']> {
  const make = async (type: KeyType, name: string) =>
    (await createKey(directory, applicationId, { type, name })).text;
  return {
    Frontend: await make('Frontend', 'Web shop'),
    Mobile: await make('Mobile', 'Apps'),
    Backend: await make('Backend', 'Services'),
    leaked: await make('Backend', 'Partner page'),
  };
}
