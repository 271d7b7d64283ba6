import { describe, expect, it } from 'vitest';
import { clientVariables } from '../../src/contract/client-variables.ts';
import { loadConfig, serviceLinksIn } from '../../src/serve/config/config.ts';
import { load } from '../support/load-config.ts';

describe('loadConfig', () => {
  it('loadConfig returns the defaults, and omits settings without a default', () => {
    expect(load()).toEqual({
      data: './flagmeter-data',
      existing: false,
      listen: '127.0.0.1:8080',
      proxyHeader: 'x-forwarded-for',
      grpcListen: '127.0.0.1:8081',
      serviceScope: 'flagmeter',
      signingAlg: 'ES256',
      threads: 0,
      workers: 1,
      spoolMax: 4 * 1024 ** 3,
      rate: 10_000,
      burst: 20_000,
      maxBody: 65_536,
      maxReport: 4_194_304,
      apiRate: 100,
      tokenRate: 100,
      otlpEvery: 60,
      otlpTraceOneIn: 100,
      plans: 'fixed',
      batchPackets: 4_096,
      commitDelay: 2,
      commitSiblings: 10,
      queueHighPackets: 20_000,
      queueLowPackets: 10_000,
      bodyBudget: 64 * 1024 * 1024,
      queueHighBytes: 128 * 1024 * 1024,
      queueLowBytes: 64 * 1024 * 1024,
      queueHighAge: 5_000,
      queueLowAge: 1_000,
      maxFeatures: 2_000,
      maxVariants: 64,
      maxMetrics: 1_000,
      staleAfter: 30,
      instanceTtl: 2_592_000,
      invitationTtl: 604_800,
      rotationGrace: 3_600,
      maxIdentities: 100_000,
      exposureDays: 30,
      keepMinutes: 48,
      keepHours: 90,
      keepDays: 1_826,
      keepAudit: 400,
      issuerAllowPrivate: false,
      webhookAllowPrivate: false,
      backupKeep: 7,
      backupS3Region: 'us-east-1',
      shutdownDelay: 0,
      shutdownGrace: 10,
      logLevel: 'info',
      slowRequest: 5_000,
      slowCommit: 1_000,
    });
  });

  it.each([
    [['--existing'], {}, '{}', true],
    [[], { FLAGMETER_EXISTING: 'true' }, '{}', true],
    [[], { FLAGMETER_EXISTING: 'false' }, '{"existing":true}', false],
    [['--config', 'c'], {}, '{"existing":true}', true],
    [['--config', 'c', '--existing'], {}, '{"existing":false}', true],
  ])('loadConfig reads a switch from the options %j, the variables %j and the file %s', (argv, env, file, existing) => {
    expect(loadConfig({ argv, env, readFile: () => file }).existing).toBe(existing);
  });

  it('loadConfig returns a frozen object', () => {
    expect(Object.isFrozen(load())).toBe(true);
  });

  it('an option overrides a variable, which overrides the file, which overrides the default', () => {
    const file = { workers: 2, rate: 2, maxBody: 2_000 };
    const env = { FLAGMETER_WORKERS: '3', FLAGMETER_RATE: '3', FLAGMETER_CONFIG: 'f.json' };
    const config = load(['--workers', '4'], env, file);
    expect(config).toMatchObject({ workers: 4, rate: 3, maxBody: 2_000, batchPackets: 4_096 });
  });

  it.each([['--workers', '8'], ['--workers=8'], ['--workers=3', '--workers', '8']])(
    'loadConfig reads the number of workers from the option %s',
    (...argv) => {
      expect(load(argv).workers).toBe(8);
    },
  );

  it('keys of a configuration file can be in camelCase or spelt as options', () => {
    const file = { 'grpc-listen': ':1', metricsListen: '[::1]:0' };
    expect(load(['--config=f.json'], {}, file)).toMatchObject({ grpcListen: ':1', metricsListen: '[::1]:0' });
  });

  it('loadConfig treats an empty environment variable as unset', () => {
    expect(load([], { FLAGMETER_WORKERS: '', PATH: '/bin' }).workers).toBe(1);
  });

  it.each([
    'FLAGMETER_PORT',
    'FLAGMETER_PORT_8080_TCP',
    'FLAGMETER_PORT_8080_TCP_ADDR',
    'FLAGMETER_PORT_8080_TCP_PORT',
    'FLAGMETER_PORT_8080_TCP_PROTO',
    'FLAGMETER_SERVICE_HOST',
    'FLAGMETER_SERVICE_PORT',
    'FLAGMETER_SERVICE_PORT_HTTP',
    'FLAGMETER_GRPC_PORT_8081_TCP_ADDR',
    'FLAGMETER_GRPC_SERVICE_HOST',
  ])('the variable %s, which Kubernetes sets for a Service, is ignored and reported', (name) => {
    const env = { [name]: 'tcp://10.0.0.7:8080', FLAGMETER_SERVICE_SCOPE: 'flags' };
    expect(load([], env).serviceScope).toBe('flags');
    expect(serviceLinksIn(env)).toEqual([name]);
  });

  it('loadConfig ignores the variables of client commands', () => {
    const env = Object.fromEntries(Object.values(clientVariables).map((name) => [name, 'x']));
    expect(load([], env)).toEqual(load([]));
  });

  it.each([
    ['100000000', 100_000_000],
    ['100000KiB', 102_400_000],
    ['90MiB', 94_371_840],
    ['1GiB', 1_073_741_824],
  ])('loadConfig reads the size %s as %i bytes', (text, bytes) => {
    expect(load(['--queue-high-bytes', text]).queueHighBytes).toBe(bytes);
    expect(load(['--config', 'f.json'], {}, { queueHighBytes: text }).queueHighBytes).toBe(bytes);
  });

  it.each([
    [2, ['--metrics-listen', ':8082'], 0],
    [3, ['--metrics-listen', ':8082'], 0],
    [4, ['--metrics-listen', ':8082'], 2],
    [16, ['--metrics-listen', ':8082'], 8],
    [16, [], 0],
  ])('a server with %i cores and the options %j has %i front-end threads', (cores, argv, threads) => {
    expect(loadConfig({ argv, env: {}, readFile: () => '', cores }).threads).toBe(threads);
  });

  it('the default burst is twice the rate', () => {
    expect(load(['--rate', '7']).burst).toBe(14);
    expect(load(['--rate', '0']).burst).toBe(0);
    expect(load(['--rate', '7', '--burst', '1']).burst).toBe(1);
  });

  it.each(['127.0.0.1:8080', ':8080', '[::1]:8080', '[fe80::1%eth0]:1', 'localhost:0', 'a-b.example:65535'])(
    'the server accepts %s as a listen address',
    (address) => {
      expect(load(['--listen', address]).listen).toBe(address);
    },
  );

  it.each(['http://a', 'https://a.example:8443/base/path', 'http://[::1]:8080', 'http://127.0.0.1'])(
    'the server accepts %s as a public URL',
    (url) => {
      expect(load(['--auth-url', url]).authUrl).toBe(url);
    },
  );
});
