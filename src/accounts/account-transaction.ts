import type { AuditAction } from '../contract/audit.ts';
import type { WebhookEvent, WebhookEventData, WebhookEventType } from '../contract/webhook-events.ts';
import type { AccountRecords, TableName } from '../storage/lmdb/accounts.ts';
import type {
  Actor,
  ApplicationKey,
  AuditEntry,
  CodeScan,
  FeatureDeclaration,
  MetricDeclaration,
} from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';
import { auditKey } from './audit-log.ts';
import { declarationsWith } from './declarations.ts';
import { byAge } from './key-index.ts';
import type { KeyRange, MemoryTable, Transaction } from './store/account-store.ts';

/** Names of the number sequences from which records take their numbers. */
type Sequence =
  | 'application'
  | 'environment'
  | 'key'
  | 'team'
  | 'user'
  | 'apiKey'
  | 'client'
  | 'feature'
  | 'note'
  | 'experiment'
  | 'metric'
  | 'view'
  | 'webhook'
  | 'identityProvider'
  | 'linkedIdentity'
  | 'audit';

/** Lookups of committed records by application id. */
type ByApplication = Pick<Accounts, 'getFeatures' | 'getMetrics' | 'getScans' | 'getApplicationKeys'>;

/** Queues an event for the webhooks of a team, in the transaction of the change that causes the event. */
export type Announce = (tx: Transaction, event: WebhookEvent) => void;

/** A transaction that changes accounts. It reads the accounts, and collects writes and audit log entries. */
export class AccountTransaction implements Accounts, Transaction {
  readonly #tx: Transaction;
  readonly #onDisk: ByApplication;
  readonly #authorship: Authorship;
  readonly #announce: Announce;

  constructor(tx: Transaction, onDisk: ByApplication, authorship: Authorship, announce: Announce = () => {}) {
    this.#tx = tx;
    this.#onDisk = onDisk;
    this.#authorship = authorship;
    this.#announce = announce;
  }

  get actor(): Actor {
    return this.#authorship.actor;
  }

  get teams() {
    return this.records('teams');
  }

  get users() {
    return this.records('users');
  }

  get apiKeys() {
    return this.records('apiKeys');
  }

  get applications() {
    return this.records('applications');
  }

  get clients() {
    return this.records('clients');
  }

  get webhooks() {
    return this.records('webhooks');
  }

  get identityProviders() {
    return this.records('identityProviders');
  }

  get deletions() {
    return this.records('deletions');
  }

  getFeatures(applicationId: string): ReadonlyMap<string, FeatureDeclaration> {
    return declarationsWith(this.#onDisk.getFeatures(applicationId), applicationId, this.pending('features'));
  }

  getMetrics(applicationId: string): ReadonlyMap<string, MetricDeclaration> {
    return declarationsWith(this.#onDisk.getMetrics(applicationId), applicationId, this.pending('metrics'));
  }

  getScans(applicationId: string): ReadonlyMap<string, CodeScan> {
    return declarationsWith(this.#onDisk.getScans(applicationId), applicationId, this.pending('codeScans'));
  }

  getApplicationKeys(applicationId: string): readonly ApplicationKey[] {
    const keys = new Map(this.#onDisk.getApplicationKeys(applicationId).map((key) => [key.hash, key]));
    for (const [hash, key] of this.pending('applicationKeys')) {
      if (key?.applicationId === applicationId) keys.set(hash, key);
      else keys.delete(hash);
    }
    return byAge(keys.values());
  }

  /** Writes an entry into the audit log. @param teamId the team that may read the entry */
  note(
    action: AuditAction,
    teamId: string | null,
    target: AuditEntry['target'],
    details: Pick<AuditEntry, 'factors' | 'provider' | 'reason' | 'applicationId' | 'changes'> = {},
  ): void {
    const number = this.takeNumber('audit');
    const { at, actor } = this.#authorship;
    this.put('audit', auditKey(number), { number, at, actor, action, teamId, target, ...details });
  }

  announce<Type extends WebhookEventType>(type: Type, teamId: string, data: WebhookEventData[Type]): void {
    this.#announce(this, { type, teamId, at: this.#authorship.at, data } as WebhookEvent);
  }

  /** Takes the next number of a sequence. Numbers start at 1 and are never reused. */
  takeNumber(sequence: Sequence): number {
    const number = this.get('numbers', sequence) ?? 1;
    this.put('numbers', sequence, number + 1);
    return number;
  }

  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined {
    return this.#tx.get(table, key);
  }

  has(table: TableName, key: string): boolean {
    return this.#tx.has(table, key);
  }

  keys(table: TableName, range: KeyRange): Iterable<string> {
    return this.#tx.keys(table, range);
  }

  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]> {
    return this.#tx.records(table);
  }

  pending<Name extends TableName>(table: Name): ReadonlyMap<string, AccountRecords[Name] | undefined> {
    return this.#tx.pending(table);
  }

  put<Name extends TableName>(table: Name, key: string, value: AccountRecords[Name]): void {
    this.#tx.put(table, key, value);
  }

  remove(table: TableName, key: string): void {
    this.#tx.remove(table, key);
  }
}

/** Actor and time (Unix ms) of a change, for the audit log. */
interface Authorship {
  readonly actor: Actor;
  readonly at: number;
}

export const system: Actor = { type: 'system', id: '', name: '', address: '' };

/** Returns the user or API key with this id, and its name. Without an id, the actor is an unauthenticated caller. */
export function findActor(
  { users, apiKeys }: Pick<Accounts, 'users' | 'apiKeys'>,
  id: string | undefined,
  address: string,
): Actor {
  if (id === undefined) return { type: 'anonymous', id: '', name: '', address };
  const user = users.get(id);
  if (user !== undefined) return { type: 'user', id, name: user.email, address };
  return { type: 'api-key', id, name: apiKeys.get(id)?.name ?? '', address };
}
