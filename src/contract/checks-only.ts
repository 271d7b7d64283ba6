import { type MessageRoute, messageRoutes } from './message-routes.ts';

/** The source of senders that report checks only. A later release may have stored a route that this one does not know. */
function sourceOf({ route }: { readonly route: string }): string | undefined {
  return messageRoutes[route as MessageRoute]?.checksOnly;
}

/** True if the senders of a route report checks only. */
export function isChecksOnly(sender: { readonly route: string }): boolean {
  return sourceOf(sender) !== undefined;
}

/**
 * The sources of senders that report checks only; none if a sender reports use and views as well. Metrics say nothing about either.
 * Without use and views, their counts are unknown, not 0.
 */
export function checksOnlyOf(senders: Iterable<{ readonly route: string }>): string[] {
  const found = new Set<string>();
  for (const sender of senders) {
    const source = sourceOf(sender);
    if (source !== undefined) found.add(source);
    else if (sender.route !== 'metrics') return [];
  }
  return [...found].sort();
}

/** The explanation of missing counts. @param names at least one source */
export function checksOnlyText(names: readonly string[]): string {
  const all = names.join(' and ');
  return `${all} ${names.length === 1 ? 'does' : 'do'} not report used or viewed.`;
}
