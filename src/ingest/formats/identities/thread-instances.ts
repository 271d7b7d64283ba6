import { personOf } from './instances.ts';
import { type FoundPerson, type InstanceChange, KnownInstances, type Person } from './known-instances.ts';

/** The instance ids that the main thread has found lately, in another thread. */
export class ThreadInstances {
  readonly #known: KnownInstances;
  readonly #secret: Buffer;

  /** @param ttlMs lifetime of an id after its last use @param secret see `UsageStore.digestSecret` */
  constructor(ttlMs: number, secret: Buffer) {
    this.#known = new KnownInstances(ttlMs);
    this.#secret = secret;
  }

  learn(change: InstanceChange): void {
    if ('known' in change) this.#known.remember(change.instanceId, change.known);
    else if ('dropped' in change) this.#known.drop(change.dropped);
    else this.#known.clear();
  }

  /** Finds the person of an id that `knows` has accepted, even if the id has expired since. @param now Unix ms */
  find(instanceId: string, application: number, now: number): FoundPerson | undefined {
    const known = this.#known.get(instanceId);
    return known?.application === application ? this.#known.use(instanceId, known, now) : undefined;
  }

  /** Whether an id is valid here. If not, only the main thread can decide. @param now Unix ms */
  knows(instanceId: string, application: number, now: number): boolean {
    return this.#known.recall(instanceId, now)?.application === application;
  }

  personOf(application: number, identity: string): Person {
    return personOf(this.#secret, application, identity);
  }
}
