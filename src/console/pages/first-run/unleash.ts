import caddy from '../../../../docs/examples/unleash/Caddyfile' with { type: 'text' };
import envoy from '../../../../docs/examples/unleash/envoy.yaml' with { type: 'text' };
import haproxy from '../../../../docs/examples/unleash/haproxy.cfg' with { type: 'text' };
import nginx from '../../../../docs/examples/unleash/nginx.conf' with { type: 'text' };
import nginxMirror from '../../../../docs/examples/unleash/nginx-mirror.conf' with { type: 'text' };
import { proxyRule } from './proxy-rule.ts';
import type { Target } from './target.ts';

const moved =
  'Adopt the tokens of step 2 before you add the rule. flagmeter receives what the SDKs report, and Unleash serves everything else. While flagmeter is away, the SDK for Node keeps all counts, the SDK for Go and Edge keep some, and all others discard them. Unleash no longer shows usage.';
const copied =
  'Both receive what the SDKs report. Nothing changes for Unleash and the SDKs. What is reported while flagmeter is away is not counted.';

/** Proxies in front of Unleash. The rules are parts of the examples in the docs. */
export const unleashTargets: readonly Target[] = [
  proxy(
    'nginx',
    'nginx',
    nginx,
    moved,
    'Add the upstream beside the server block of Unleash, and the location to that block.',
  ),
  proxy(
    'nginx-mirror',
    'nginx mirror',
    nginxMirror,
    copied,
    'Add the upstream beside the server block of Unleash, and the rest to that block. http://unleash is the address of Unleash.',
  ),
  proxy('haproxy', 'HAProxy', haproxy, moved, 'Add use_backend to the frontend of Unleash, and the backend.'),
  proxy('caddy', 'Caddy', caddy, moved, 'Add it to the site of Unleash, before its reverse_proxy.'),
  proxy(
    'envoy',
    'Envoy',
    envoy,
    moved,
    'Add the first part at the start of the routes of Unleash, and the second to the clusters.',
  ),
];

/** Address of the server in the examples. */
const exampleUrl = 'http://127.0.0.1:8080';

function proxy(id: string, label: string, example: string, effect: string, how: string): Target {
  return {
    id,
    label,
    keyTypes: ['Backend', 'Frontend'],
    lines({ metricsUrl }) {
      const hasPath = new URL(metricsUrl).pathname !== '/';
      const note = `Replace 127.0.0.1:8080 by the address of the server: a rule cannot add the path of ${metricsUrl}.`;
      return {
        intro: hasPath ? `${effect} ${note}` : effect,
        blocks: [
          { name: `rule for ${label}`, how, code: proxyRule(example, hasPath ? exampleUrl : metricsUrl) },
        ],
      };
    },
  };
}
