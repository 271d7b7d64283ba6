import { personOf } from './instances.ts';
import { type FoundPerson, type InstanceNews, KnownInstances, type Person } from './known-instances.ts';

/** The instance ids that the main thread has found lately, in another thread. */
export class ThreadInstances {
  readonly #known: KnownInstances;
  readonly #secret: Buffer;

  /** @param ttlMs lifetime of an id after its last use @param secret see `UsageStore.digestSecret` */
  constructor(ttlMs: number, secret: Buffer) {
    this.#known = new KnownInstances(ttlMs);
    this.#secret = secret;
  }

  learn(news: InstanceNews): void {
    if ('known' in news) this.#known.remember(news.instanceId, news.known);
    else if ('dropped' in news) this.#known.drop(news.dropped);
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

  /** Packets with an unknown id belong to the main thread. */
  mayResolve(): boolean {
    return false;
  }
}
