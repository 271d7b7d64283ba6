import type { flagmeter as Declared } from './declarations.d.ts';
import { createPageSender } from './page.ts';

/** The sender for pages, served as `snippet.js`. Every visitor loads it, so it is small. See declarations.d.ts. */
export const flagmeter: typeof Declared = (options) => createPageSender(options, import.meta.url);
