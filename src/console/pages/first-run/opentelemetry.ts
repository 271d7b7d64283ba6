import { safeText, safeUrl, shellWord } from './quoting.ts';
import type { Block, Subject, Target } from './target.ts';

/** Exporters of OpenTelemetry. An evaluation that arrives as an event and in a sum would count twice, so each target sends one of them. */
export const openTelemetryTargets: readonly Target[] = [
  service(
    'logs',
    'Log events',
    'EventHook',
    'Each evaluation is a log event, which also names the user. If the service sends logs to a collector already, choose Collector.',
  ),
  service(
    'metrics',
    'Metrics',
    'MetricsHook',
    'Evaluations are summed before they are sent, which takes less traffic. If the service sends metrics to a collector already, choose Collector.',
    "export OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE='delta'",
  ),
  {
    id: 'collector',
    label: 'Collector',
    keyTypes: ['Backend'],
    lines: (subject) => ({
      intro: 'The collector forwards the log events of evaluations, and nothing else.',
      blocks: [collector(subject), install, hook('EventHook')],
    }),
  },
];

function service(
  id: 'logs' | 'metrics',
  label: string,
  hookName: string,
  intro: string,
  more?: string,
): Target {
  return {
    id,
    label,
    keyTypes: ['Backend'],
    lines: (subject) => ({
      intro,
      blocks: [variables(id, subject, more), install, hook(hookName)],
    }),
  };
}

/** The exporter's settings of one signal. Other signals stay where they are. */
function variables(signal: 'logs' | 'metrics', subject: Subject, more?: string): Block {
  const prefix = `export OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
  const { metricsUrl, environment, key } = subject;
  return {
    name: 'environment variables',
    how: 'Environment variables of the service. Add the attribute to those that it has:',
    code: [
      `export OTEL_${signal.toUpperCase()}_EXPORTER='otlp'`,
      `${prefix}_PROTOCOL='http/protobuf'`,
      `${prefix}_ENDPOINT=${shellWord(safeUrl(metricsUrl, `/v1/${signal}`))}`,
      `${prefix}_HEADERS=${shellWord(`authorization=${key}`)}`,
      ...(more === undefined ? [] : [more]),
      `export OTEL_RESOURCE_ATTRIBUTES=${shellWord(`deployment.environment.name=${encodeURIComponent(environment)}`)}`,
    ].join('\n'),
  };
}

const install: Block = {
  name: 'command that installs the hook',
  how: 'In the folder of the program, if it has no such hook yet (here for JavaScript):',
  code: 'npm install @openfeature/open-telemetry-hooks',
};

function hook(name: string): Block {
  return {
    name: 'lines for the program',
    how: 'Where the program sets its provider:',
    code: `import { ${name} } from '@openfeature/open-telemetry-hooks';
import { OpenFeature } from '@openfeature/server-sdk';

OpenFeature.addHooks(new ${name}());`,
  };
}

function collector({ metricsUrl, environment, key }: Subject): Block {
  // A header cannot have other characters. Without it, the resource must name the environment.
  const header = /^[ -~]+$/.test(environment)
    ? `\n      x-flagmeter-environment: ${safeText(environment)}`
    : '';
  return {
    name: 'configuration of the collector',
    how: 'Add it to the configuration of the collector:',
    code: `processors:
  filter/flags:
    logs:
      log_record:
        - event_name != "feature_flag.evaluation"
exporters:
  otlphttp/flagmeter:
    endpoint: ${safeText(safeUrl(metricsUrl, '').replace(/\/$/, ''))}
    headers:
      authorization: ${safeText(key)}${header}
service:
  pipelines:
    logs/flags:
      receivers: [otlp]
      processors: [filter/flags, batch]
      exporters: [otlphttp/flagmeter]`,
  };
}
