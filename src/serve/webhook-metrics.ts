import type { ServiceMetric } from '../http/exposition-text.ts';
import type { Core } from './core.ts';
import { gauge } from './metric.ts';

/** What was told of events. */
export function webhookMetrics({ deliverer }: Core): readonly ServiceMetric[] {
  return [
    {
      name: 'flagmeter_webhook_attempts_total',
      type: 'counter',
      help: 'Attempts of this process to deliver to webhooks, by their outcome.',
      labels: ['outcome'],
      *read() {
        const { delivered, failed } = deliverer.counts;
        yield [{ outcome: 'delivered' }, delivered];
        yield [{ outcome: 'failed' }, failed];
      },
    },
    gauge(
      'flagmeter_webhook_deliveries_waiting',
      'Deliveries that wait to be made, or to be made again.',
      () => deliverer.waiting,
    ),
  ];
}
