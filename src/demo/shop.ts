import { createKey } from '../accounts/application-keys.ts';
import { createApplication } from '../accounts/applications.ts';
import { type Directory, type DirectorySources, openDirectory } from '../accounts/directory.ts';
import { addNote } from '../accounts/feature-notes.ts';
import { declareFeature, patchFeature } from '../accounts/features.ts';
import type { KeyHolder } from '../accounts/key-index.ts';
import { declareMetric } from '../accounts/metrics.ts';
import { noPasswordHash } from '../accounts/passwords.ts';
import { EmbeddedAccountStore } from '../accounts/store/embedded.ts';
import { createUser } from '../accounts/users.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Application, KeyType } from '../storage/lmdb/records.ts';
import { type DemoFlag, flags } from './flags.ts';
import { brokenSenders, type KeyName, metrics, shopOrigin } from './programs.ts';
import { historyDays } from './story.ts';

/** The application of the shop, and the texts of its keys. */
export interface Shop {
  readonly application: Application;
  readonly keys: Readonly<Record<KeyName, string>>;
  holderOf(key: KeyName): KeyHolder;
}

const dayMs = 86_400_000;

/** Colleagues of the administrator. They have accounts, but no password that anyone knows. */
const colleagues = [
  { email: 'mia@shop.example', name: 'Mia Berg', role: 'Admin' },
  { email: 'leo@shop.example', name: 'Leo Tanaka', role: 'User' },
  { email: 'ada@shop.example', name: 'Ada Okafor', role: 'User' },
] as const;

/** Creates what a team has created over the months, each at its time: applications, keys, declarations, colleagues. */
export async function makeShop(
  accounts: AccountTables,
  { clock, randomBytes }: DirectorySources,
): Promise<Shop> {
  let at = clock.now();
  const goTo = (daysAgo: number) => {
    at = clock.now() - daysAgo * dayMs;
  };
  const accountStore = new EmbeddedAccountStore(accounts, { ready: true, failed: () => {} });
  const past = { now: () => at, monotonic: () => clock.monotonic() };
  const system = openDirectory(accountStore, { clock: past, randomBytes });
  const [admin] = [...system.users.values()];
  const directory = system.under({ id: admin!.id, address: '127.0.0.1' });
  const teamId = admin!.primaryTeam;
  try {
    goTo(historyDays + 10);
    const account = { passwordHash: noPasswordHash, teams: [teamId] };
    await Promise.all(colleagues.map((each) => createUser(directory, { ...each, ...account })));
    const application = await createApplication(directory, {
      name: 'Shop',
      teamId,
      allowedOrigins: [shopOrigin, 'https://*.shop.example'],
      acceptClientIdentities: true,
    });
    const { id } = application;
    const keys = await makeKeys(directory, id);
    await Promise.all([
      ...metrics.map(({ name, kind, unit }) => declareMetric(directory, id, name, { kind, unit })),
      ...flags.flatMap((flag) => [...declare(flag, directory, id, goTo)]),
    ]);
    goTo(brokenSenders.find(({ key }) => key === 'leaked')!.daysAgo);
    directory.markLeaked(directory.findKey(keys.leaked)!);
    await createApplication(directory, { name: 'Warehouse', teamId });
    return { application, keys, holderOf: (key) => system.findKey(keys[key])! };
  } finally {
    await accountStore.close();
  }
}

/** Declares a flag and adds its notes, each at its time. */
function* declare(
  {
    name,
    description,
    shares,
    since = historyDays + 5,
    archived,
    permanent,
    experiment,
    notes = [],
  }: DemoFlag,
  directory: Directory,
  id: string,
  goTo: (daysAgo: number) => void,
): Generator<Promise<unknown>> {
  if (description === undefined) return;
  goTo(since);
  yield declareFeature(directory, id, { name, description });
  if (permanent) yield patchFeature(directory, id, name, { permanent });
  if (experiment)
    yield patchFeature(directory, id, name, {
      split: Object.keys(shares(0)).map((variant) => [variant, 1]),
    });
  if (archived !== undefined) {
    goTo(archived);
    yield patchFeature(directory, id, name, { archived: true });
  }
  for (const [daysAgo, text] of notes) {
    goTo(daysAgo);
    yield addNote(directory, id, name, { at: directory.clock.now(), environment: 'Production', text });
  }
}

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
