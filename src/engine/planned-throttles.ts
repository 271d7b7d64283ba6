import type { Draft, Engine } from './engine.ts';
import type { ListedThrottle, ThrottleDraft, Throttles } from './throttles.ts';

/** Counts in the accounts themselves, by plans: for one machine. */
export class PlannedThrottles implements Throttles {
  readonly #engine: Pick<Engine, 'change' | 'get' | 'keys'>;

  constructor(engine: Pick<Engine, 'change' | 'get' | 'keys'>) {
    this.#engine = engine;
  }

  change<T>(_keys: readonly string[], decide: (draft: ThrottleDraft) => T): Promise<T> {
    return this.#engine.change((draft) => decide(throttlesIn(draft)));
  }

  async list(after: string, limit: number): Promise<readonly ListedThrottle[]> {
    const found: ListedThrottle[] = [];
    for (const key of this.#engine.keys('loginThrottles', { start: `${after}!`, end: '~' })) {
      const failures = this.#engine.get('loginThrottles', key);
      if (failures !== undefined) found.push({ key, failures });
      if (found.length === limit) break;
    }
    return found;
  }
}

function throttlesIn(draft: Draft): ThrottleDraft {
  return {
    get: (key) => draft.get('loginThrottles', key),
    put: (key, failures) => draft.put('loginThrottles', key, failures),
    remove: (key) => draft.remove('loginThrottles', key),
  };
}
