import { auditEntries, findApplicationId } from '../../accounts/audit-log.ts';
import type { ActivityKind } from '../../contract/activity.ts';
import { capitalize, fieldWords } from '../../contract/field-words.ts';
import type { ChangedField } from '../../contract/shapes/activity.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import type { AuditEntry, FeatureDeclaration, FeatureNote } from '../../storage/lmdb/records.ts';
import type { Fact } from './facts.ts';

/** Kinds of audit log targets whose changes appear in the activity feed. All belong to an application. */
const changedThings: Readonly<Record<string, { readonly kind: ActivityKind; readonly noun: string }>> = {
  application: { kind: 'application_changed', noun: 'Application' },
  environment: { kind: 'environment_changed', noun: 'Environment' },
  key: { kind: 'key_changed', noun: 'Key' },
  feature: { kind: 'flag_changed', noun: 'Flag' },
  metric: { kind: 'metric_changed', noun: 'Metric' },
  experiment: { kind: 'experiment_changed', noun: 'Experiment' },
};

/** Actions that are not shown as changes. The feed has separate items for notes and for leaked keys. */
const shownOtherwise: readonly string[] = ['feature.noted', 'key.leaked'];

/** True if the feed shows an entry of the audit log. */
export function isChange(entry: AuditEntry): boolean {
  return (
    findThing(entry) !== undefined && !shownOtherwise.includes(entry.action) && findApplicationId(entry) !== undefined
  );
}

/** Returns the data about an author that the caller may see. */
export type ShowActor = (actor: AuditEntry['actor']) => NonNullable<Fact['by']>;

/** Returns a change by a person, from the audit log. */
export function changeFact(entry: AuditEntry, showActor: ShowActor): Fact {
  const { number, at, action, target, actor, changes = [] } = entry;
  const { kind, noun } = findThing(entry)!;
  const { feature, name } = splitTargetName(target);
  const done = action.slice(action.indexOf('.') + 1).replaceAll('-', ' ');
  return {
    kind,
    at,
    key: number,
    environment: target.type === 'environment' ? target.name : null,
    feature,
    subject: name,
    text: formatChange(target.type === 'feature' ? '' : `${noun} ${name} `, done, changes),
    by: showActor(actor),
    changes: [...changes],
  };
}

/** Returns a fact for each step of the rollout plan of a feature, including future steps. */
export function stepFacts({ name, rollout }: FeatureDeclaration): readonly Fact[] {
  return (rollout ?? []).map(({ at, split }) => ({
    kind: 'rollout_step',
    at,
    key: [name, at],
    feature: name,
    text: `Planned split from here on: ${split.map(([variant, weight]) => `${variant} ${weight}`).join(', ')}`,
  }));
}

/** Returns the fact for a note of a feature. Its time is the time to which the note refers. */
export function noteFact(feature: string, note: FeatureNote, by: Fact['by']): Fact {
  const { id, at, environment, text } = note;
  return { kind: 'note', at, key: [id], environment, feature, text, by: by ?? null };
}

function findThing({ action }: AuditEntry) {
  const thing = action.slice(0, action.indexOf('.'));
  return Object.hasOwn(changedThings, thing) ? changedThings[thing] : undefined;
}

/** Splits the name of a target. The name of an experiment begins with its feature: `checkout: One page`. */
function splitTargetName({ type, name }: AuditEntry['target']): { feature: string | null; name: string } {
  if (type !== 'experiment') return { feature: type === 'feature' ? name : null, name };
  const [, feature = null, experiment = name] = /^(.*?): (.*)$/s.exec(name) ?? [];
  return { feature, name: experiment };
}

/** Formats a change: "Archived", "Changed: keep for ever no → yes" or "Metric latency changed: unit – → ms". */
function formatChange(prefix: string, done: string, changes: readonly ChangedField[]): string {
  const [first] = changes;
  if (changes.length === 1 && first?.field === 'archived')
    return capitalize(`${prefix}${first.to === 'yes' ? 'archived' : 'restored from the archive'}`);
  const details = changes.map(({ field, from, to }) =>
    done === 'changed'
      ? `${fieldWords(field)} ${from ?? 'none'} → ${to ?? 'none'}`
      : `${fieldWords(field)} ${to ?? 'none'}`,
  );
  return capitalize(`${prefix}${done}${details.length > 0 ? `: ${details.join(', ')}` : ''}`);
}

/** Maximum number of audit log entries to read, and of changes to keep, for all applications together. */
const most = { read: 200_000, kept: 20_000 };

/** Number of entries read between two pauses. Reading this number of entries takes about a millisecond. */
const stride = 200;

/** The latest changes of applications in the audit log, the latest first. Each entry is read only once. */
export class RecentChanges {
  readonly #accounts: Pick<AccountTables, 'audit'>;
  /** Changes by application, the latest first. */
  #known: ReadonlyMap<string, readonly AuditEntry[]> = new Map();
  #latest = -1;
  #reading: Promise<void> = Promise.resolve();

  constructor(accounts: Pick<AccountTables, 'audit'>) {
    this.#accounts = accounts;
  }

  /** Returns the changes of an application, including every change acknowledged before the call. */
  async of(applicationId: string): Promise<readonly AuditEntry[]> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    await this.#reading;
    return this.#known.get(applicationId) ?? [];
  }

  async #read(): Promise<void> {
    const found: AuditEntry[] = [];
    let newest = this.#latest;
    let before: number | undefined;
    for (let read = 0; read < most.read && found.length < most.kept; read += stride) {
      const entries = auditEntries(this.#accounts, before, stride);
      newest = Math.max(newest, entries[0]?.number ?? -1);
      for (const entry of entries) if (entry.number > this.#latest && isChange(entry)) found.push(entry);
      before = entries.at(-1)?.number;
      if (entries.length < stride || before! <= this.#latest) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#latest = newest;
    if (found.length > 0) this.#add(found);
  }

  #add(found: readonly AuditEntry[]): void {
    const all = [...found, ...[...this.#known.values()].flat()];
    if (all.length > most.kept) all.sort((one, other) => other.number - one.number).length = most.kept;
    const known = new Map<string, AuditEntry[]>();
    for (const entry of all) {
      const id = findApplicationId(entry)!;
      const changes = known.get(id);
      if (changes === undefined) known.set(id, [entry]);
      else changes.push(entry);
    }
    this.#known = known;
  }
}
