import type { UsageStore } from '../store/usage.ts';
import type { Envelope } from './envelope.ts';
import { createSections } from './sections.ts';

/**
 * Makes the function that puts a batch on disk, all of it in one transaction. When it returns, the batch is durable;
 * when it throws, nothing of it is.
 */
export function createCommit(store: UsageStore): (envelope: Envelope) => void {
  const sections = createSections(store);
  return (envelope) => {
    try {
      store.environment.transactionSync(() => {
        for (const section of sections) section.write(envelope);
      });
    } catch (error) {
      for (const section of sections) section.forget();
      throw error;
    }
  };
}
