import type { ServiceMetric } from '../http/exposition-text.ts';
import type { BoundListeners } from './bound-listeners.ts';

/** The connections of the listeners; nothing where the runtime does not show them. */
export function connectionMetrics(bound: Pick<BoundListeners, 'surplusClosed'>): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_surplus_connections_closed_total',
      type: 'counter',
      help: 'Connections closed because one address had too many, or because open files ran low.',
      read: () => bound.surplusClosed() ?? [],
    },
  ];
}
