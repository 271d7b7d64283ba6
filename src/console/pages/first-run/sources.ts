import caddy from '../../../../docs/examples/unleash/Caddyfile' with { type: 'text' };
import envoy from '../../../../docs/examples/unleash/envoy.yaml' with { type: 'text' };
import haproxy from '../../../../docs/examples/unleash/haproxy.cfg' with { type: 'text' };
import nginx from '../../../../docs/examples/unleash/nginx.conf' with { type: 'text' };
import nginxMirror from '../../../../docs/examples/unleash/nginx-mirror.conf' with { type: 'text' };
import type { Note } from '../../../contract/notes.ts';
import type { LedgerEntry } from '../../../contract/shapes/ledger.ts';
import type { KeyType } from '../application-settings/key-types.ts';
import { proxyRule } from './proxy-rule.ts';
import { ownTargets } from './snippets.ts';
import { type Block, type Connection, safeJson, safeText, safeUrl, shellWord, type Target } from './target.ts';

export interface Source {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly choice: string;
  readonly targets: readonly Target[];
  /** True if the senders use tokens of Unleash instead of keys. */
  readonly adoptsTokens: boolean;
  /** Name of the message that the page waits for: "a packet or a report". */
  readonly message: string;
  /** Time after which the page shows all possible reasons for a missing message, ms. */
  readonly patienceMs: number;
  /** True if a request came from a sender of this kind. */
  readonly sent: (route: LedgerEntry['route'], userAgent: string | null) => boolean;
  /** Advice by error code. It replaces the usual advice. */
  readonly advice: Readonly<Record<string, Note>>;
  /** Possible reasons why no message of this kind of sender reaches the server. */
  readonly hints: readonly string[];
  readonly omits?: string;
}

const intro =
  'Each evaluation counts as a check of the returned variant. The package works with every provider, and calls that evaluate a flag need no change.';

const openFeatureTargets: readonly Target[] = [
  target('server', 'Server', 'Backend', (connection) => [
    {
      name: 'key as a variable',
      how: 'The key is secret. Pass it to the program as an environment variable:',
      code: `export FLAGMETER_KEY=${shellWord(connection.key)}`,
    },
    setUp('server', `  key: process.env.FLAGMETER_KEY,\n`, connection, `  service: "my-service",\n`),
  ]),
  target('web', 'Web page', 'Frontend', (connection) => [
    setUp('web', `  key: ${safeText(connection.key)},\n`, connection),
  ]),
];

function target(id: string, label: string, type: KeyType, write: (connection: Connection) => Block[]): Target {
  const install: Block = {
    name: 'command that installs the package',
    how: 'In the folder of the program:',
    code: 'npm install @flagmeter/openfeature',
  };
  return { id, label, keyTypes: [type], lines: (connection) => ({ intro, blocks: [install, ...write(connection)] }) };
}

function setUp(sdk: 'server' | 'web', key: string, { metricsUrl, environment }: Connection, more = ''): Block {
  return {
    name: 'lines for the program',
    how: 'Where the program sets its provider:',
    code: `import { flagmeter } from '@flagmeter/openfeature/${sdk}';
import { OpenFeature } from '@openfeature/${sdk}-sdk';

const meter = flagmeter({
  url: ${safeJson(metricsUrl)},
${key}  environment: ${safeText(environment)},
${more}});
OpenFeature.addHooks(meter.hook);
await OpenFeature.setProviderAndWait(meter.withTracking(provider));`,
  };
}

/**
 * Exporters of OpenTelemetry. Each target sends only one signal, because with two signals every evaluation would count
 * twice.
 */
const openTelemetryTargets: readonly Target[] = [
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
    lines: (connection) => ({
      intro: 'The collector forwards the log events of evaluations, and nothing else.',
      blocks: [collector(connection), install, hook('EventHook')],
    }),
  },
];

function service(id: 'logs' | 'metrics', label: string, hookName: string, intro: string, more?: string): Target {
  return {
    id,
    label,
    keyTypes: ['Backend'],
    lines: (connection) => ({ intro, blocks: [variables(id, connection, more), install, hook(hookName)] }),
  };
}

/** Returns the environment variables of an exporter for one signal. They do not affect other signals. */
function variables(signal: 'logs' | 'metrics', connection: Connection, more?: string): Block {
  const prefix = `export OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
  const { metricsUrl, environment, key } = connection;
  return {
    name: 'environment variables',
    how: 'Environment variables of the service. Add the attribute to the existing attributes of the service:',
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
  how: 'In the folder of the program, unless it has such a hook already (here for JavaScript):',
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

function collector({ metricsUrl, environment, key }: Connection): Block {
  // A header can contain only these characters. A name with other characters must be set in the resource.
  const header = /^[ -~]+$/.test(environment) ? `\n      x-flagmeter-environment: ${safeText(environment)}` : '';
  return {
    name: 'configuration of the collector',
    how: 'Add these lines to the configuration of the collector:',
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

const moved =
  'Adopt the tokens of step 2 before you add the rule. flagmeter receives the reports of the SDKs, and Unleash serves everything else. While flagmeter is unreachable, the SDK for Node keeps all counts, Edge and the SDK for Go keep some, and all others discard them. Unleash no longer shows usage.';
const copied =
  'Unleash and flagmeter both receive the reports of the SDKs. Nothing changes for Unleash and the SDKs. Reports that are sent while flagmeter is unreachable are not counted.';

/** Proxies in front of Unleash. Their rules are from the examples in the docs. */
const unleashTargets: readonly Target[] = [
  proxy(
    'nginx',
    'nginx',
    nginx,
    moved,
    'Add the upstream next to the server block of Unleash, and the location to that block.',
  ),
  proxy(
    'nginx-mirror',
    'nginx mirror',
    nginxMirror,
    copied,
    'Add the upstream next to the server block of Unleash, and the rest to that block. Replace http://unleash with the address of Unleash.',
  ),
  proxy(
    'haproxy',
    'HAProxy',
    haproxy,
    moved,
    'Add the use_backend line to the frontend of Unleash, and add the backend section.',
  ),
  proxy('caddy', 'Caddy', caddy, moved, 'Add the lines to the site of Unleash, before its reverse_proxy.'),
  proxy(
    'envoy',
    'Envoy',
    envoy,
    moved,
    'Add the first section before the routes of Unleash, and the second section to the clusters.',
  ),
];

const exampleUrl = 'http://127.0.0.1:8080';

function proxy(id: string, label: string, example: string, effect: string, how: string): Target {
  return {
    id,
    label,
    keyTypes: ['Backend', 'Frontend'],
    lines({ metricsUrl }) {
      const hasPath = new URL(metricsUrl).pathname !== '/';
      const note = `Replace 127.0.0.1:8080 with the address of the server itself, because the rule cannot add the path of ${metricsUrl}.`;
      return {
        intro: hasPath ? `${effect} ${note}` : effect,
        blocks: [{ name: `rule for ${label}`, how, code: proxyRule(example, hasPath ? exampleUrl : metricsUrl) }],
      };
    },
  };
}

const ownPackage = /flagmeter-openfeature/;

const unknownKey: Note = {
  meaning: 'A message had an unknown key.',
  remedy: 'Copy the key of step 2 again. The key sent is incomplete, misspelt or revoked.',
};

const blocked =
  "In a browser, an ad blocker or the page's Content-Security-Policy can block the request. The developer tools show it.";

export const sources: readonly Source[] = [
  {
    id: 'unleash',
    label: 'I use Unleash',
    hint: 'A rule for your proxy. Services need no change.',
    choice: 'Proxy',
    targets: unleashTargets,
    adoptsTokens: true,
    message: 'a message of an Unleash SDK',
    patienceMs: 90_000,
    sent: (route) => route === 'unleash',
    advice: {
      unknown_key: {
        meaning: 'An SDK sent a token that no application has adopted.',
        remedy:
          'Adopt this token in step 2. Pages and apps need a Frontend token. The SDK for Node sends the counts again; most others discard them.',
      },
      unknown_environment: {
        meaning: 'The environment that the token was adopted for was deleted.',
        remedy: 'Delete the key in the settings of the application, and adopt the token again.',
      },
    },
    hints: [
      'SDKs report about once a minute, and only flags that were checked.',
      'The log of the proxy shows whether /api/client/metrics is passed on, and the response.',
    ],
    omits: 'Unleash does not report use and views, so these counts stay 0.',
  },
  {
    id: 'openfeature',
    label: 'I use OpenFeature',
    hint: 'A package for its JavaScript SDKs.',
    choice: 'Program',
    targets: openFeatureTargets,
    adoptsTokens: false,
    message: 'a message of the package',
    patienceMs: 30_000,
    sent: (route, userAgent) => route === 'telemetry' || ownPackage.test(userAgent ?? ''),
    advice: { unknown_key: unknownKey },
    hints: ['The package sends ten seconds after the first evaluation of a flag.', blocked],
  },
  {
    id: 'opentelemetry',
    label: 'I use OpenTelemetry',
    hint: 'Settings of your exporter or collector.',
    choice: 'Exporter',
    targets: openTelemetryTargets,
    adoptsTokens: false,
    message: 'a request of an exporter',
    patienceMs: 90_000,
    sent: (route) => route === 'otlp',
    advice: {
      unknown_key: unknownKey,
      unknown_environment: {
        meaning: 'The resource names no environment of the application.',
        remedy: 'Set deployment.environment.name as in step 3, or create that environment.',
      },
    },
    hints: [
      'Exporters send metrics once a minute, and log events after some seconds.',
      'The SDK of the service must have a provider of logs or metrics, and evaluate a flag.',
    ],
    omits: 'OpenTelemetry does not report use and views, so these counts stay 0.',
  },
  {
    id: 'own',
    label: 'I use my own code',
    hint: 'A request from a page, an app or a server.',
    choice: 'Language',
    targets: ownTargets,
    adoptsTokens: false,
    message: 'a packet or a report',
    patienceMs: 30_000,
    sent: (route, userAgent) => ['telemetry', 'usage', 'metrics'].includes(route) && !ownPackage.test(userAgent ?? ''),
    advice: { unknown_key: unknownKey },
    hints: [
      'Check that the sender prints a response. If not, the machine of the sender cannot reach the server.',
      blocked,
    ],
  },
];
