import { createKey, deleteKey } from '../accounts/application-keys.ts';
import { createApplication } from '../accounts/applications.ts';
import { type Directory, type DirectorySources, openDirectory } from '../accounts/directory.ts';
import { planExperiment } from '../accounts/experiments.ts';
import { addNote, declareFeature, patchFeature } from '../accounts/features.ts';
import type { KeyHolder } from '../accounts/key-index.ts';
import { declareMetric } from '../accounts/metrics.ts';
import { noPasswordHash } from '../accounts/passwords.ts';
import type { Write } from '../accounts/store/account-store.ts';
import { applyWrites } from '../accounts/store/committed.ts';
import { EmbeddedAccountStore } from '../accounts/store/embedded.ts';
import { createUser } from '../accounts/users.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import type { Application, KeyRefusals, KeyType } from '../storage/lmdb/records.ts';
import { type DemoFeature, features } from './features.ts';
import { brokenSenders, type KeyName, metrics, type ProgramName, shopOrigin } from './programs.ts';
import { historyDays } from './story.ts';

/** The application of the shop, and the texts of its keys. */
export interface Shop {
  readonly application: Application;
  readonly keys: Readonly<Record<KeyName, string>>;
  /** `undefined` for the revoked key. */
  findHolder(key: KeyName): KeyHolder | undefined;
}

const dayMs = 86_400_000;

/** Other users of the demo. Their accounts have no password, so only the administrator can sign in. */
const colleagues = [
  { email: 'mia@shop.example', name: 'Mia Berg', role: 'Admin' },
  { email: 'leo@shop.example', name: 'Leo Tanaka', role: 'User' },
  { email: 'ada@shop.example', name: 'Ada Okafor', role: 'User' },
] as const;

/** Owners of flags by the program that checks the flag. All other flags belong to Mia. */
const ownerByProgram: Readonly<Partial<Record<ProgramName, (typeof colleagues)[number]['email']>>> = {
  web: 'leo@shop.example',
  app: 'ada@shop.example',
};

/** Age of the application in days. */
const applicationDays = historyDays + 10;
export const shopAge = (applicationDays + 1) * dayMs;

export type RefusedByKey = ReadonlyMap<KeyName, KeyRefusals>;

/** A change that the team made in the past. */
interface Deed {
  readonly daysAgo: number;
  readonly run: () => Promise<unknown>;
}

/** Creates the applications, keys, declarations and colleagues of a team, with dates in the past months. */
export async function makeShop(accounts: AccountTables, { clock, randomBytes }: DirectorySources): Promise<Shop> {
  let at = clock.now();
  const goTo = (daysAgo: number) => {
    // The history counts days from midnight UTC, so a change and its effect begin at the same time.
    at = (Math.floor(clock.now() / dayMs) - daysAgo) * dayMs;
  };
  const accountStore = new EmbeddedAccountStore(accounts, { ready: true, failed: () => {} });
  const past = { now: () => at, monotonic: () => clock.monotonic() };
  const system = openDirectory(accountStore, { clock: past, randomBytes });
  const [admin] = [...system.users.values()];
  const directory = system.under({ id: admin!.id, address: '127.0.0.1' });
  const teamId = admin!.primaryTeam;
  try {
    goTo(applicationDays);
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
    // The order of these calls is the order of the changes in the audit log.
    const deeds = [
      ...listDeeds(directory, id, keys),
      ...features.flatMap((feature) => [...declare(feature, directory, id)]),
      ...experimentDeeds(directory, id, clock.now()),
    ];
    deeds.sort((a, b) => b.daysAgo - a.daysAgo);
    await Promise.all(
      deeds.map(({ daysAgo, run }) => {
        goTo(daysAgo);
        return run();
      }),
    );
    return { application, keys, findHolder: (key) => system.findKey(keys[key]) };
  } finally {
    await accountStore.close();
  }
}

/** Lists the changes that are not about flags: declared metrics, a deleted key, a leaked key, a second application. */
function listDeeds(directory: Directory, id: string, keys: Shop['keys']): Deed[] {
  const { teamId } = directory.applications.get(id)!;
  const { key: old } = directory.findKey(keys.revoked)!;
  const leak = () => {
    directory.recordLeak(directory.findKey(keys.leaked)!);
    return directory.flush();
  };
  const since = (name: KeyName) => brokenSenders.find(({ key }) => key === name)!.daysAgo;
  return [
    ...metrics.map(({ name, kind, unit }) => ({
      daysAgo: historyDays + 6,
      run: () => declareMetric(directory, id, name, { kind, unit }),
    })),
    { daysAgo: since('revoked'), run: () => deleteKey(directory, id, old.id) },
    { daysAgo: since('leaked'), run: leak },
    { daysAgo: 2, run: () => createApplication(directory, { name: 'Warehouse', teamId }) },
  ];
}

/** Declares a flag and adds its notes. */
function* declare(feature: DemoFeature, directory: Directory, id: string): Generator<Deed> {
  const { name, description, shares, since = historyDays + 5, notes = [] } = feature;
  const { asks, archived, permanent, experiment } = feature;
  if (description === undefined) return;
  yield { daysAgo: since, run: () => declareFeature(directory, id, { name, description }) };
  const patch = (daysAgo: number, change: Parameters<typeof patchFeature>[3]): Deed => ({
    daysAgo,
    run: () => patchFeature(directory, id, name, change),
  });
  const [program] = Object.keys(asks) as ProgramName[];
  const owner = ownerByProgram[program!] ?? 'mia@shop.example';
  const { id: user } = [...directory.users.values()].find(({ email }) => email === owner)!;
  yield patch(since, { owners: [{ type: 'user', id: user }] });
  if (permanent) yield patch(since, { permanent });
  if (experiment) yield patch(since, { split: Object.keys(shares(0)).map((variant) => [variant, 1]) });
  if (archived !== undefined) yield patch(archived, { archived: true });
  for (const [daysAgo, text] of notes) {
    const note = () => ({ at: directory.clock.now(), environment: 'Production', text });
    yield { daysAgo, run: () => addNote(directory, id, name, note()) };
  }
}

async function makeKeys(directory: Directory, applicationId: string): Promise<Shop['keys']> {
  const make = async (type: KeyType, name: string) => (await createKey(directory, applicationId, { type, name })).text;
  return {
    Frontend: await make('Frontend', 'Web shop'),
    Mobile: await make('Mobile', 'Apps'),
    Backend: await make('Backend', 'Services'),
    leaked: await make('Backend', 'Partner page'),
    revoked: await make('Frontend', 'Old web shop'),
  };
}

/** Records when the keys were last used, and their refused messages. @param at Unix ms */
export function recordUses(accounts: AccountTables, shop: Shop, refused: RefusedByKey, at: number): void {
  const writes = (Object.keys(shop.keys) as KeyName[]).flatMap((name): Write[] => {
    const key = shop.findHolder(name)?.key;
    if (key === undefined) return [];
    const ofKey = refused.get(name);
    const lastUsedAt = name === 'leaked' ? null : at;
    return [
      { table: 'applicationKeys', key: key.hash, value: { ...key, lastUsedAt, ...(ofKey && { refused: ofKey }) } },
    ];
  });
  transact(accounts.lmdb, () => applyWrites(accounts, writes));
}

/**
 * Plans the experiments of the shop, each a day before it starts. One experiment has finished, and the service freezes
 * its result within a minute. The other one is running. The rollout of `loyalty-points` is behind its plan.
 */
function experimentDeeds(directory: Directory, id: string, now: number): Deed[] {
  const today = Math.floor(now / dayMs);
  const { number: environment } = directory.applications.get(id)!.environments[0]!;
  const at = (daysAgo: number) => (today - daysAgo) * dayMs;
  const common = { environment, split: null, metric: 'used', direction: 'up', users: null } as const;
  const orders = { metric: 'viewed', direction: 'up', tolerated: 0.02 } as const;
  return [
    {
      daysAgo: 30,
      run: () =>
        planExperiment(directory, id, 'basket-layout', {
          ...common,
          name: 'Basket on one page',
          hypothesis: 'More people finish their order when the basket is on one page.',
          base: 'stepwise',
          startAt: at(28),
          endAt: at(0),
          guardrails: [orders],
        }),
    },
    {
      daysAgo: 11,
      run: () =>
        planExperiment(directory, id, 'free-shipping-banner', {
          ...common,
          name: 'Banner about free shipping',
          hypothesis: 'People buy more when they see that shipping is free.',
          base: 'none',
          startAt: at(10),
          endAt: at(-11),
          guardrails: [orders],
        }),
    },
    {
      daysAgo: 12,
      run: () =>
        patchFeature(directory, id, 'loyalty-points', {
          rollout: [
            {
              at: at(10),
              split: [
                ['on', 10],
                ['off', 90],
              ],
            },
            {
              at: at(6),
              split: [
                ['on', 50],
                ['off', 50],
              ],
            },
            { at: at(-4), split: [['on', 1]] },
          ],
        }),
    },
  ];
}
