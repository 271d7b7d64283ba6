export const transportNames = ['http', 'grpc', 'grpc-web'] as const;
export type Transport = (typeof transportNames)[number];

interface Route {
  /** Label of the messages in the console. */
  readonly label: string;
  /** HTTP status of accepted messages. */
  readonly status: 200 | 202;
  /** Product whose messages contain neither uses nor views: see `listChecksOnly`. Absent for other routes. */
  readonly checksOnly?: string;
}

/** The kinds of messages that the ledger and the lists of senders contain. `src/ingest/formats` receives them. */
const routes = {
  telemetry: { label: 'Packets', status: 202 },
  usage: { label: 'Usage reports', status: 200 },
  metrics: { label: 'Metrics reports', status: 200 },
  identities: { label: 'Instance ids', status: 200 },
  otlp: { label: 'OpenTelemetry', status: 200, checksOnly: 'OpenTelemetry' },
  unleash: { label: 'Unleash SDKs', status: 202, checksOnly: 'Unleash' },
} as const satisfies Readonly<Record<string, Route>>;

export type MessageRoute = keyof typeof routes;
export const messageRoutes: Readonly<Record<MessageRoute, Route>> = routes;
export const routeNames = Object.keys(routes) as readonly MessageRoute[];

/** Routes whose messages have senders. Mint requests have no senders. */
export type SenderRoute = Exclude<MessageRoute, 'identities'>;
export const senderRoutes = routeNames.filter((route): route is SenderRoute => route !== 'identities');

export const senderRouteText =
  "Kind of the sender's requests: packets, usage reports, metrics reports, OpenTelemetry, or messages of Unleash SDKs. Metrics reports, OpenTelemetry and Unleash SDKs do not report use and views.";

/**
 * Returns the product name of a sender that reports neither uses nor views. The route can be unknown to this release,
 * if a later release stored it.
 */
function findSource({ route }: { readonly route: string }): string | undefined {
  return messageRoutes[route as MessageRoute]?.checksOnly;
}

/** True if the senders of a route report checks only. */
export function isChecksOnly(sender: { readonly route: string }): boolean {
  return findSource(sender) !== undefined;
}

/**
 * Lists the products whose senders report checks only, so that their uses and views are unknown, not 0. The list is
 * empty if any sender also reports uses and views. Metrics reports are ignored.
 */
export function listChecksOnly(senders: Iterable<{ readonly route: string }>): string[] {
  const found = new Set<string>();
  for (const sender of senders) {
    const source = findSource(sender);
    if (source !== undefined) found.add(source);
    else if (sender.route !== 'metrics') return [];
  }
  return [...found].sort();
}

/** Explains missing counts of uses and views. @param names names of products, at least one */
export function checksOnlyText(names: readonly string[]): string {
  const all = names.join(' and ');
  return `${all} ${names.length === 1 ? 'does' : 'do'} not report used or viewed.`;
}
