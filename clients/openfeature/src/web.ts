import { createPageSender } from '../../../src/ingest/snippet/page.ts';
import type { flagmeter as Declared } from '../types/web.d.ts';
import { countEvaluations } from './evaluations.ts';

/** Sends packets with a Frontend key: see web.d.ts. */
export const flagmeter: typeof Declared = (options) => {
  const sender = createPageSender(options, globalThis.location?.origin);
  return { ...sender, ...countEvaluations(sender) };
};
