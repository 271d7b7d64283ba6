import { signal } from '@preact/signals';
import { root } from '../settings.ts';
import type { Entry } from './entries.ts';

/** The sections of the docs. */
const sections = signal<readonly Entry[] | undefined>(undefined);

interface Title {
  readonly title: string;
  readonly page: string;
  readonly to: string;
}

/** The titles of the docs, which are read once. */
export function docsEntries(): readonly Entry[] {
  return sections.value ?? [];
}

/** Reads the titles. Without them, the search works without the docs. */
export async function readDocs(): Promise<void> {
  if (sections.value !== undefined) return;
  try {
    const response = await fetch(`${root}/docs/titles.json`);
    if (!response.ok) return;
    const titles = (await response.json()) as readonly Title[];
    sections.value = titles.map(({ title, page, to }) => ({
      kind: 'docs',
      title,
      href: `${root}/docs/${to}`,
      ...(page !== title && { detail: page }),
    }));
  } catch {
    // The next time the search is opened, they are read again.
  }
}
