import type { Entry } from './entries.ts';

const storageKey = 'flagmeter-recent';
const mostKept = 8;

/** The pages that were chosen last in this browser, the latest first. */
export function recentEntries(): Entry[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isEntry).map((entry) => ({ ...entry, kind: 'recent' })) : [];
  } catch {
    return [];
  }
}

/** Remembers a page. Actions and people are not remembered. */
export function remember({ title, detail, href }: Entry): void {
  if (href === undefined) return;
  const others = recentEntries().filter((entry) => entry.href !== href);
  const kept = [
    { title, detail, href },
    ...others.map(({ title, detail, href }) => ({ title, detail, href })),
  ];
  try {
    localStorage.setItem(storageKey, JSON.stringify(kept.slice(0, mostKept)));
  } catch {
    // Without storage nothing is remembered.
  }
}

/** Another site cannot write here, but an earlier version may have written other fields. */
function isEntry(value: unknown): value is Entry {
  const { title, detail, href } = (value ?? {}) as Partial<Record<string, unknown>>;
  const isText = (each: unknown) => typeof each === 'string';
  return (
    isText(title) &&
    isText(href) &&
    (href as string).startsWith('/') &&
    (detail === undefined || isText(detail))
  );
}
