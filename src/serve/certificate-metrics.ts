import type { ServiceMetric } from '../http/exposition-text.ts';
import type { BoundListeners } from './bound-listeners.ts';

/** The certificate of the listeners; nothing without TLS. */
export function certificateMetrics(
  bound: Pick<BoundListeners, 'certificateExpiry'>,
): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_certificate_expiry_timestamp_seconds',
      type: 'gauge',
      help: 'Unix time at which the certificate of the listeners expires.',
      read() {
        const expiry = bound.certificateExpiry();
        return expiry === undefined ? [] : [[{}, expiry / 1000]];
      },
    },
  ];
}
