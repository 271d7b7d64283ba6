/** Sources whose messages have neither use nor views, by the route of their requests. */
const sources: ReadonlyMap<string, string> = new Map([
  ['unleash', 'Unleash'],
  ['otlp', 'OpenTelemetry'],
]);

/** Whether the senders of a route report checks only. */
export function isChecksOnly({ route }: { readonly route: string }): boolean {
  return sources.has(route);
}

/**
 * The sources of senders that report checks only; none if a sender reports use and views as well. Metrics say nothing about either.
 * Without use and views, their counts are unknown, not 0.
 */
export function checksOnlyOf(senders: Iterable<{ readonly route: string }>): string[] {
  const found = new Set<string>();
  for (const { route } of senders) {
    const source = sources.get(route);
    if (source !== undefined) found.add(source);
    else if (route !== 'metrics') return [];
  }
  return [...found].sort();
}

/** The explanation of missing counts. @param names at least one source */
export function checksOnlyText(names: readonly string[]): string {
  const all = names.join(' and ');
  return `${all} ${names.length === 1 ? 'does' : 'do'} not report used or viewed.`;
}
