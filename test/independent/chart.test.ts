import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { beforeAll, expect } from 'vitest';
import { parse } from 'yaml';
import { filesOfChart } from '../../scripts/release/chart.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { root } from '../packages/fixture.ts';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { kinds, type Manifest, unknownFields } from './helm/manifests.ts';

const { describe, test } = needing('golang-github-masterminds-sprig-dev');

const admin = { email: 'you@example.com', existingSecret: 'admin' };
const url = { 'auth-url': 'https://flags.example.com' };

describe('the Helm chart', () => {
  let chart: string;
  let renderer: string;

  beforeAll(() => {
    chart = join(freshDirectory(), 'flagmeter');
    for (const { path, content } of filesOfChart(root, '1.2.3')) {
      mkdirSync(join(chart, dirname(path)), { recursive: true });
      writeFileSync(join(chart, path), content as string);
    }
    renderer = join(freshDirectory(), 'render');
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' };
    const source = join(import.meta.dirname, 'helm/render.go');
    const { status, stderr } = spawnSync('go', ['build', '-o', renderer, source], { env, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });

  const yaml = (name: string) => parse(readFileSync(join(chart, name), 'utf8'));

  /** Returns the schema errors of Helm values. */
  function findRefusal(values: object): string {
    const check = new Ajv().compile(JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')));
    return check(values) ? '' : JSON.stringify(check.errors);
  }

  function render(changed: object) {
    const values = { ...yaml('values.yaml'), ...changed };
    expect(findRefusal(values)).toBe('');
    const { version, appVersion, name } = yaml('Chart.yaml');
    const input = JSON.stringify({
      Values: values,
      Release: { Name: 'shop', Namespace: 'flags', Service: 'Helm' },
      Chart: { Name: name, Version: version, AppVersion: appVersion },
    });
    return spawnSync(renderer, [chart], { input, encoding: 'utf8' });
  }

  /** Returns the manifests by their kind, after checking them against the schemas of Kubernetes. */
  function manifests(changed: object): Record<string, Manifest> {
    const { status, stdout, stderr } = render(changed);
    expect(status, stderr).toBe(0);
    const files = Object.entries(JSON.parse(stdout) as Record<string, string>);
    const made = files
      .filter(([name, text]) => name.endsWith('.yaml') && text.trim() !== '')
      .map(([, text]) => parse(text));
    for (const manifest of made) new kinds[manifest.kind as keyof typeof kinds](manifest).validate();
    return Object.fromEntries(made.map((manifest) => [manifest.kind, manifest]));
  }

  function settingsIn({ ConfigMap }: Record<string, Manifest>) {
    const secrets: Record<string, string> = {
      '/run/secrets/postgres/url': 'postgres://a:b@db/flagmeter',
      '/run/secrets/postgres/key': 'k'.repeat(43),
    };
    const readFile = (path: string) => secrets[path] ?? ConfigMap.data[path];
    const config = loadConfig({ argv: ['--config', 'flagmeter.json'], env: {}, readFile });
    checkPublicUrls(config);
    return config;
  }

  test('the Helm chart creates one pod with a store, which is prepared before the first startup', () => {
    const made = manifests({ admin, config: url });
    expect(Object.keys(made).sort()).toEqual(['ConfigMap', 'Service', 'StatefulSet']);
    const { template, volumeClaimTemplates } = made['StatefulSet'].spec;
    const [container] = template.spec.containers;
    expect(container).toMatchObject({
      image: 'registry.example/flagmeter:1.2.3',
      args: ['serve', '--existing', '--config', '/etc/flagmeter/flagmeter.json'],
    });
    expect(template.spec.initContainers[0].env).toEqual([{ name: 'EMAIL', value: 'you@example.com' }]);
    expect(template.spec).toMatchObject({ enableServiceLinks: false, securityContext: { runAsNonRoot: true } });
    expect(template.spec.volumes.map(({ name }: { name: string }) => name)).toEqual(['tmp', 'config', 'admin']);
    expect(volumeClaimTemplates[0].spec.resources.requests.storage).toBe('20Gi');
    expect(made['Service'].spec.selector).toEqual(made['StatefulSet'].spec.selector.matchLabels);
    expect(template.metadata.labels).toMatchObject(made['Service'].spec.selector);
    expect(settingsIn(made)).toMatchObject({
      data: '/var/lib/flagmeter',
      authUrl: 'https://flags.example.com',
      listen: '0.0.0.0:8080',
    });
  });

  test('the Helm chart accepts every setting, with the files and variables that the setting needs', () => {
    const made = manifests({
      admin,
      config: {
        ...url,
        'trusted-proxies': '10.0.0.0/8',
        'otlp-endpoint': 'http://collector:4318',
        'otlp-headers-file': '/run/secrets/otlp/headers',
        'backup-every': '1h',
        'backup-to': 's3://flags/backups',
        'backup-s3-credentials': '/run/secrets/backup/credentials',
        auditExport: '/audit',
      },
      secretFiles: { otlp: 'flagmeter-otlp', backup: 'flagmeter-backup' },
      env: [{ name: 'TZ', value: 'UTC' }],
      volumes: [{ name: 'audit', persistentVolumeClaim: { claimName: 'audit' } }],
      volumeMounts: [{ name: 'audit', mountPath: '/audit' }],
    });
    expect(settingsIn(made)).toMatchObject({
      trustedProxies: '10.0.0.0/8',
      otlpHeadersFile: '/run/secrets/otlp/headers',
      backupEvery: '1h',
      backupS3Credentials: '/run/secrets/backup/credentials',
      auditExport: '/audit',
    });
    const { containers, volumes } = made['StatefulSet'].spec.template.spec;
    expect(containers[0].env).toContainEqual({ name: 'TZ', value: 'UTC' });
    expect(containers[0].volumeMounts).toEqual(
      expect.arrayContaining([
        { name: 'secret-backup', mountPath: '/run/secrets/backup', readOnly: true },
        { name: 'secret-otlp', mountPath: '/run/secrets/otlp', readOnly: true },
        { name: 'audit', mountPath: '/audit' },
      ]),
    );
    expect(volumes).toEqual(
      expect.arrayContaining([
        { name: 'secret-backup', secret: { secretName: 'flagmeter-backup', defaultMode: 0o440 } },
        { name: 'audit', persistentVolumeClaim: { claimName: 'audit' } },
      ]),
    );
  });

  test.each([
    ['a separate port', {}, { port: 'ops' }, '0.0.0.0:9090'],
    ['another separate port', { ops: { port: 9000 } }, { port: 'ops' }, '0.0.0.0:9000'],
    ['the HTTP port', { ops: { port: 0 } }, { port: 'http' }, undefined],
    [
      'the HTTP port with TLS',
      {
        ops: { port: 0 },
        config: { ...url, 'tls-cert': '/run/secrets/tls/tls.crt', tlsKey: '/run/secrets/tls/tls.key' },
      },
      { port: 'http', scheme: 'HTTPS' },
      undefined,
    ],
  ])('the Helm chart uses %s for probes and metrics', (_, changed, probed, listen) => {
    const made = manifests({ admin, config: url, ...changed });
    const [container] = made['StatefulSet'].spec.template.spec.containers;
    for (const probe of ['startupProbe', 'livenessProbe'])
      expect(container[probe].httpGet).toEqual({ path: '/healthz', ...probed });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', ...probed });
    expect(container.ports.map(({ name }: { name: string }) => name)).toContain(probed.port);
    expect(settingsIn(made).opsListen).toBe(listen);
    expect(made['Service'].spec.ports.map(({ name }: { name: string }) => name)).toEqual(['http', 'grpc']);
  });

  test.each([
    ['no public URL', { config: {} }],
    ['an ingress without a host', { ingress: { enabled: true, host: '' } }],
    ['an unknown setting', { config: { ...url, 'trusted-proxy': '10.0.0.0/8' } }],
    ['an address, which the chart sets', { config: { ...url, listen: '0.0.0.0:80' } }],
    ['the name of a folder that the chart mounts', { secretFiles: { postgres: 'mine' } }],
    ['a port that is taken', { ops: { port: 8080 } }],
    ['an unknown value', { replica: 2 }],
  ])('the schema of the Helm chart rejects %s', (_, changed) => {
    const values = { ...yaml('values.yaml'), config: url };
    expect(findRefusal(values)).toBe('');
    expect(findRefusal({ ...values, ...changed })).not.toBe('');
  });

  test('the Helm chart writes only fields that the Kubernetes API defines', () => {
    const ingress = { enabled: true, className: 'nginx', host: 'a.example', annotations: {}, tlsSecret: 'tls' };
    const all = {
      config: { authUrl: 'https://a.example' },
      podAnnotations: { a: 'b' },
      secretFiles: { otlp: 'otlp' },
      imagePullSecrets: [{ name: 'registry' }],
      storage: { size: '1Gi', storageClassName: 'fast' },
      ingress,
    };
    const alone = manifests({ ...all, admin });
    const several = manifests({ ...all, replicas: 2, postgres: { existingSecret: 'postgres' } });
    expect(unknownFields([...Object.values(alone), ...Object.values(several)])).toEqual([]);
    alone['StatefulSet'].spec.template.spec.containers[0].readinessprobe = {};
    expect(unknownFields([alone['StatefulSet']])).toEqual([expect.stringContaining('"readinessprobe"')]);
  });

  test('the Helm chart can create several pods that share a PostgreSQL', () => {
    const made = manifests({ config: url, replicas: 3, postgres: { existingSecret: 'postgres' } });
    const { replicas, template } = made['StatefulSet'].spec;
    expect(replicas).toBe(3);
    expect(template.spec.initContainers).toBeUndefined();
    expect(template.spec.containers[0].args).not.toContain('--existing');
    expect(settingsIn(made)).toMatchObject({ postgres: 'postgres://a:b@db/flagmeter', shutdownDelay: 5 });
    const config = { ...url, shutdownDelay: 20 };
    const slower = manifests({ replicas: 3, postgres: { existingSecret: 'postgres' }, config });
    expect(settingsIn(slower).shutdownDelay).toBe(20);
  });

  test('the Helm chart can create an ingress with TLS', () => {
    const ingress = {
      enabled: true,
      className: 'nginx',
      host: 'flags.example.com',
      annotations: { a: 'b' },
      tlsSecret: 'tls',
    };
    expect(manifests({ admin, config: url, ingress })['Ingress'].spec).toMatchObject({
      ingressClassName: 'nginx',
      tls: [{ secretName: 'tls', hosts: ['flags.example.com'] }],
      rules: [{ host: 'flags.example.com' }],
    });
  });

  test.each([
    [{}, 'Its console is at https://flags.example.com/\n\nWithout an Ingress, route that URL'],
    [{ ingress: { enabled: true, host: 'flags.example.com' } }, 'Its console is at https://flags.example.com/\n'],
  ])('the notes of the Helm chart contain the URL of the console with the values %j', (changed, words) => {
    const { stdout, stderr } = render({ admin, config: url, ...changed });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)['NOTES.txt']).toContain(words);
  });

  test.each([
    ['an empty public URL', { admin, config: { 'auth-url': '' } }, 'config.auth-url: the public URL'],
    [
      'an ingress of another host',
      { admin, config: url, ingress: { enabled: true, host: 'other.example' } },
      'ingress.host other.example is not the host of a public URL in config: auth-url is https://flags.example.com',
    ],
    ['no administrator', { config: url }, 'admin.email: the e-mail address of the first administrator'],
    [
      'several pods without PostgreSQL',
      { admin, config: url, replicas: 2 },
      'replicas above 1 need postgres.existingSecret',
    ],
  ])('the Helm chart refuses %s', (_, changed, why) => {
    const { status, stderr } = render(changed);
    expect(status).toBe(1);
    expect(stderr).toContain(why);
  });
});
