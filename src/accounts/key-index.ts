import type { Application, ApplicationKey, Environment } from '../storage/lmdb/records.ts';
import { originMatcher } from './origins.ts';
import { hashSecret } from './secrets.ts';
import type { Write } from './store/account-store.ts';

/** Maximum length of a key or an adopted token. The limit bounds the work of hashing. */
export const longestText = 512;

/**
 * Finds the holder of a key's text. Browser-safe keys, which are stored unhashed, are found by the text itself. Other
 * keys are found by their hash. Lookups never grow the index.
 */
export class KeyIndex {
  readonly #now: () => number;
  readonly #byText = new Map<string, KeyHolder>();
  readonly #byHash = new Map<string, KeyHolder>();
  readonly #applications = new Map<string, Application>();
  /** Keys by application, then by hash. */
  readonly #keys = new Map<string, Map<string, ApplicationKey>>();

  /** @param now Unix milliseconds; called for rotated keys only */
  constructor(now: () => number) {
    this.#now = now;
  }

  find(text: string): KeyHolder | undefined {
    const holder = this.#byText.get(text) ?? this.#findByHash(text);
    const { replaced } = holder?.key ?? {};
    return replaced === undefined || this.#now() < replaced.until ? holder : undefined;
  }

  #findByHash(text: string): KeyHolder | undefined {
    return text.length > longestText ? undefined : this.#byHash.get(hashSecret(text));
  }

  listKeys(applicationId: string): readonly ApplicationKey[] {
    return byAge(this.#keys.get(applicationId)?.values() ?? []);
  }

  /**
   * Applies writes to the tables. All keys of an application are updated together. Of several writes to a record, only
   * the last one counts.
   */
  update(writes: readonly Write[]): void {
    const touched = new Set<string>();
    const last = new Map(writes.map((write) => [`${write.table} ${write.key}`, write]));
    for (const write of last.values()) {
      if (isWriteTo(write, 'applications')) {
        if (write.value) this.#applications.set(write.key, write.value);
        else this.#applications.delete(write.key);
        touched.add(write.key);
      } else if (isWriteTo(write, 'applicationKeys')) {
        const applicationId = write.value?.applicationId ?? this.#byHash.get(write.key)?.application.id;
        if (applicationId === undefined) continue;
        this.#setKey(applicationId, write.key, write.value);
        touched.add(applicationId);
      }
    }
    for (const applicationId of touched) this.#rebuild(applicationId);
  }

  #setKey(applicationId: string, hash: string, key: ApplicationKey | undefined): void {
    const keys = this.#keys.get(applicationId) ?? new Map<string, ApplicationKey>();
    this.#keys.set(applicationId, keys);
    if (key) keys.set(hash, key);
    else {
      keys.delete(hash);
      this.#drop(hash);
    }
  }

  #rebuild(applicationId: string): void {
    const application = this.#applications.get(applicationId);
    const keys = this.#keys.get(applicationId) ?? new Map<string, ApplicationKey>();
    if (!application) {
      for (const hash of keys.keys()) this.#drop(hash);
      this.#keys.delete(applicationId);
      return;
    }
    const environments = new Map(application.environments.map((each) => [each.name, each]));
    const allowsOrigin = originMatcher(application.allowedOrigins);
    for (const [hash, key] of keys) {
      const holder: KeyHolder = { key, application, environments, allowsOrigin };
      this.#byHash.set(hash, holder);
      if (key.text !== null) this.#byText.set(key.text, holder);
    }
  }

  #drop(hash: string): void {
    const text = this.#byHash.get(hash)?.key.text;
    this.#byHash.delete(hash);
    if (typeof text === 'string') this.#byText.delete(text);
  }
}

export function byAge<Key extends Pick<ApplicationKey, 'number'>>(keys: Iterable<Key>): Key[] {
  return [...keys].sort((a, b) => a.number - b.number);
}

function isWriteTo<Name extends Write['table']>(write: Write, table: Name): write is Write<Name> {
  return write.table === table;
}

/** A key with its application, for handling packets. */
export interface KeyHolder {
  readonly key: ApplicationKey;
  readonly application: Application;
  readonly environments: ReadonlyMap<string, Environment>;
  /** True if the application's `allowedOrigins` allow this `Origin` header. */
  allowsOrigin(origin: string): boolean;
}

/**
 * Finds the environment with a name from another service. If only one environment matches, case is ignored:
 * `production` finds `Production`.
 */
export function environmentNamed(environments: KeyHolder['environments'], name: string): Environment | undefined {
  const exact = environments.get(name);
  if (exact !== undefined) return exact;
  const lowerCase = name.toLowerCase();
  const alike = [...environments].filter(([each]) => each.toLowerCase() === lowerCase);
  return alike.length === 1 ? alike[0]![1] : undefined;
}
