import { actorOf } from '../accounts/actors.ts';
import { createKey } from '../accounts/application-keys.ts';
import { createApplication } from '../accounts/applications.ts';
import { type Directory, type DirectorySources, openDirectory } from '../accounts/directory.ts';
import { addNote, type NewNote } from '../accounts/feature-notes.ts';
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
import { shopOrigin } from './senders.ts';

/** The made-up application, and the texts of its keys. */
export interface Shop {
  readonly application: Application;
  readonly keys: Readonly<Record<KeyName, string>>;
  holderOf(key: KeyName): KeyHolder;
}

/** A key of the shop: one of each type, and a Backend key that came into a page. */
export type KeyName = KeyType | 'leaked';

const dayMs = 86_400_000;
const leakedDaysAgo = 5;

/** Makes what a team has made over the months: applications, keys, declarations, colleagues. Each is as old as it would be. */
export async function makeShop(
  accounts: AccountStore,
  { clock, randomBytes }: DirectorySources,
): Promise<Shop> {
  const now = clock.now();
  let at = now;
  const engine = new EmbeddedEngine(accounts, { ready: true, failed: () => {} });
  const past = { now: () => at, monotonic: () => clock.monotonic() };
  const system = openDirectory(engine, { clock: past, randomBytes });
  const [admin] = [...system.users.values()];
  const directory = system.by(actorOf(system, admin!.id, '127.0.0.1'));
  const changes: Promise<unknown>[] = [];
  const days = (ago: number) => {
    at = now - ago * dayMs;
  };
  try {
    days(historyDays + 10);
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
    await Promise.all(
      metrics.map(({ name, ...each }) => declareMetric(directory, application.id, name, each)),
    );
    for (const flag of flags) {
      for (const [daysAgo, change] of changesOf(flag)) {
        days(daysAgo);
        changes.push(change(directory, application.id));
      }
    }
    await Promise.all(changes);
    days(leakedDaysAgo);
    directory.markLeaked(directory.findKey(keys.leaked)!);
    await createApplication(directory, { name: 'Warehouse', teamId });
    return { application, keys, holderOf: (key) => system.findKey(keys[key])! };
  } finally {
    await engine.close();
  }
}

/** A change that a colleague made some days ago. */
type PastChange = readonly [
  daysAgo: number,
  change: (directory: Directory, applicationId: string) => Promise<unknown>,
];

/** What the team has said of a flag. */
function changesOf({ name, words, came = historyDays + 5, ...flag }: DemoFlag): PastChange[] {
  if (words === undefined) return [];
  const patch = (patch: FeaturePatch) => (directory: Directory, id: string) =>
    patchFeature(directory, id, name, patch);
  const { archived, permanent, split, notes = [] } = flag;
  return [
    [came, (directory, id) => declareFeature(directory, id, { name, description: words })],
    ...(permanent ? [[came, patch({ permanent })] as const] : []),
    ...(split ? [[came, patch({ split: Object.entries(split) })] as const] : []),
    ...(archived === undefined ? [] : [[archived, patch({ archived: true })] as const]),
    ...notes.map(({ daysAgo, text }): PastChange => {
      return [daysAgo, (directory, id) => addNote(directory, id, name, noteOf(directory, text))];
    }),
  ];
}

function noteOf({ clock }: Directory, text: string): NewNote {
  return { at: clock.now(), environment: 'Production', text };
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
