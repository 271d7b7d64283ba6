import type { flagmeter as Declared } from './declarations.d.ts';
import { createPageSender } from './page.ts';

/** The sender for pages, served as `snippet.js`. It is small, because every visitor loads it. See declarations.d.ts. */
export const flagmeter: typeof Declared = (options) => createPageSender(options, import.meta.url);
