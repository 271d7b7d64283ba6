import type { Group } from './endpoint.ts';
import { expositionText, expositionType, type ServiceMetric } from './exposition-text.ts';

const headers = { 'content-type': expositionType, 'cache-control': 'no-store' };

/** `GET /metrics`: the service's own metrics in Prometheus' text format. */
export const exposition: Group<readonly ServiceMetric[]> = {
  tag: 'Exposition',
  description: "The service's own metrics.",
  endpoints: [
    {
      method: 'GET',
      path: '/metrics',
      access: {
        credential: 'None',
        who: 'Everybody who reaches the base host, or the listener of --ops-listen',
      },
      bind: (metrics) => async () => ({ status: 200, headers, body: await expositionText(metrics) }),
    },
  ],
};
