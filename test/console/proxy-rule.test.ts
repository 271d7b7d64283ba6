import { describe, expect, test } from 'vitest';
import { proxyRule } from '../../src/console/pages/first-run/proxy-rule.ts';
import { example } from '../support/proxy-program.ts';

const files = ['nginx.conf', 'nginx-mirror.conf', 'haproxy.cfg', 'Caddyfile', 'envoy.yaml'];
const createRule = (file: string, url: string) => proxyRule(example(`unleash/${file}`), url);

describe.each(files)('the proxy rule in %s', (file) => {
  test('the rule for a proxy contains the report paths and the server address, but no configuration of Unleash', () => {
    const rule = createRule(file, 'http://10.0.0.5:8085');
    expect(rule).toContain('/api/(frontend/)?client/(metrics(/bulk)?|register)');
    expect(rule).toMatch(/10\.0\.0\.5(:|, port_value: )8085/);
    expect(rule).not.toMatch(/127\.0\.0\.1|With TLS|flags\.example\.com|4242/);
  });

  test('the rule for a proxy sends and verifies the host name with TLS', () => {
    const rule = createRule(file, 'https://flags.acme.test');
    expect(rule).toMatch(/flags\.acme\.test(:|, port_value: )443/);
    expect(rule).toMatch(/(Host|host_rewrite_literal:) flags\.acme\.test/);
    expect(rule).not.toMatch(/127\.0\.0\.1|With TLS|flags\.example\.com|(proxy_pass|reports) http:\/\/f/);
  });

  test('the rule for a proxy contains only lines from the example configuration', () => {
    const lines = new Set(example(`unleash/${file}`).split('\n'));
    for (const line of createRule(file, 'http://127.0.0.1:8080').split('\n')) expect(lines).toContain(line);
  });
});

test('the rule for a proxy contains the port in the Host header, but not in the name of the certificate', () => {
  const rule = createRule('nginx.conf', 'https://flags.acme.test:8443');
  expect(rule).toContain('proxy_ssl_name flags.acme.test;');
  expect(rule).toContain('Host flags.acme.test:8443;');
  expect(createRule('envoy.yaml', 'https://flags.acme.test:8443')).toContain('sni: flags.acme.test\n');
});

test('the rule for a proxy contains an IPv6 address in the format of the proxy', () => {
  expect(createRule('haproxy.cfg', 'http://[::1]:8080')).toContain('server flagmeter [::1]:8080');
  expect(createRule('envoy.yaml', 'http://[::1]:8080')).toContain('address: ::1, port_value: 8080');
});
