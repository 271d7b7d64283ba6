import { randomBytes } from 'node:crypto';
import { type Directory, openDirectory } from '../../src/accounts/directory.ts';
import type { AccountStore } from '../../src/accounts/store/account-store.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import type { WebhookEventType } from '../../src/contract/webhook-events.ts';
import { resolver } from '../../src/http/outbound/addresses.ts';
import type { AccountTables } from '../../src/storage/lmdb/accounts.ts';
import type { Team, WebhookDelivery } from '../../src/storage/lmdb/records.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { announcer, listDeliveries } from '../../src/webhooks/queue.ts';
import { type SendDeps, send } from '../../src/webhooks/send.ts';
import { createWebhook, type NewSecret } from '../../src/webhooks/webhooks.ts';
import { openTestStore, type TestClock, testClock, testHealth } from '../accounts/fixture.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { openReceiver } from './receiver.ts';

/** Delivery settings that allow every address of this machine. */
export const sending: SendDeps = {
  resolve: resolver(true),
  allowPrivate: true,
  allowedBy: '--webhook-allow-private',
  version: '1',
  deadlineMs: 5000,
};

export interface WebhookFixture {
  readonly store: AccountTables;
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly clock: TestClock;
  readonly team: Team;
  readonly deliverer: Deliverer;
  /** Creates a webhook of the team. */
  hook(url: string, events?: readonly WebhookEventType[], name?: string): Promise<NewSecret>;
  /** All stored deliveries of a webhook, latest first. */
  deliveries(webhookId: string): WebhookDelivery[];
  /** Starts due deliveries, and waits until they have ended. */
  deliver(): Promise<void>;
}

/** Opens a directory whose changes queue events, and the deliverer of these events. */
export async function openWebhooks(base: Partial<WebhookFixture> = {}, deps = sending): Promise<WebhookFixture> {
  const store = base.store ?? openTestStore();
  const accountStore = base.accountStore ?? new EmbeddedAccountStore(store, testHealth());
  const clock = base.clock ?? testClock();
  const directory = openDirectory(accountStore, { clock, randomBytes, announce: announcer(randomBytes) });
  const team = base.team ?? (await createTeam(directory, 'Team'));
  const deliverer = newDeliverer({ accountStore, directory }, deps);
  return {
    store,
    accountStore,
    directory,
    clock,
    team,
    deliverer,
    hook: (url, events = ['member.changed'], name = 'Hook') =>
      createWebhook(directory, team.id, { name, url, events }, { allowPrivate: true }),
    deliveries: (id) => listDeliveries(store, id, undefined, 2000),
    async deliver() {
      await deliverer.look();
      await deliverer.settled();
    },
  };
}

/** The deliverer of one process. */
export function newDeliverer(
  { accountStore, directory }: Pick<WebhookFixture, 'accountStore' | 'directory'>,
  deps = sending,
): Deliverer {
  return new Deliverer({ accountStore, directory, log: testLog(), send: (...sent) => send(deps, ...sent) });
}

export const dayMs = 86_400_000;

export async function person(fixture: WebhookFixture, name = 'ada'): Promise<string> {
  const { directory, team } = fixture;
  const wanted = { name, role: 'User', teams: [team.id], passwordHash: 'none' } as const;
  return (await createUser(directory, { ...wanted, email: `${name}@example.com` })).id;
}

/** Opens a webhook whose receiver responds with these statuses one after the other, then repeats the last status. */
export async function openRespondingHook(fixture: WebhookFixture, ...statuses: number[]) {
  const receiver = await openReceiver((response) => {
    response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end();
  });
  const { webhook, secret } = await fixture.hook(`http://127.0.0.1:${receiver.port}/`);
  const latest = () => fixture.deliveries(webhook.id)[0]!;
  const now = () => fixture.directory.webhooks.get(webhook.id)!;
  const path = { teamId: fixture.team.id, id: webhook.id };
  return { receiver, webhook, secret, latest, now, path };
}
