import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientVariables } from '../src/client-variables.ts';
import { type ConfigSources, loadConfig, serviceLinksIn } from '../src/config.ts';
import { settings } from '../src/config-schema.ts';
import { UsageError } from '../src/flags.ts';

/** Loads from flags, variables and the file `f.json`; the file's content may be text or an object. */
function load(argv: string[] = [], env: ConfigSources['env'] = {}, file?: unknown) {
  const readFile = (path: string) => {
    if (path !== 'f.json' || file === undefined) throw new Error(`ENOENT: no such file '${path}'`);
    return typeof file === 'string' ? file : JSON.stringify(file);
  };
  return loadConfig({ argv, env, readFile });
}

describe('loadConfig', () => {
  it('gives the defaults, and leaves out settings without one', () => {
    expect(load()).toEqual({
      data: './flagmeter-data',
      existing: false,
      listen: '127.0.0.1:8080',
      proxyHeader: 'x-forwarded-for',
      grpcListen: '127.0.0.1:8081',
      serviceScope: 'flagmeter',
      signingAlg: 'ES256',
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
      rotationGrace: 3_600,
      maxIdentities: 100_000,
      exposureDays: 30,
      keepMinutes: 48,
      keepHours: 90,
      keepDays: 1_826,
      keepAudit: 400,
      webhookAllowPrivate: false,
      backupKeep: 7,
      backupS3Region: 'us-east-1',
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
  ])('takes a switch from %j, %j and the file %s', (argv, env, file, existing) => {
    expect(loadConfig({ argv, env, readFile: () => file }).existing).toBe(existing);
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(load())).toBe(true);
  });

  it('takes a flag over a variable over the file over the default', () => {
    const file = { workers: 2, rate: 2, maxBody: 2_000 };
    const env = { FLAGMETER_WORKERS: '3', FLAGMETER_RATE: '3', FLAGMETER_CONFIG: 'f.json' };
    const config = load(['--workers', '4'], env, file);
    expect(config).toMatchObject({ workers: 4, rate: 3, maxBody: 2_000, batchPackets: 4_096 });
  });

  it.each([['--workers', '8'], ['--workers=8'], ['--workers=3', '--workers', '8']])(
    'reads %s %s',
    (...argv) => {
      expect(load(argv).workers).toBe(8);
    },
  );

  it('takes file keys in camelCase and as flags', () => {
    const file = { 'grpc-listen': ':1', metricsListen: '[::1]:0' };
    expect(load(['--config=f.json'], {}, file)).toMatchObject({ grpcListen: ':1', metricsListen: '[::1]:0' });
  });

  it('counts an empty variable as not set', () => {
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
  ])('passes over %s, which Kubernetes sets for a Service, and names it', (name) => {
    const env = { [name]: 'tcp://10.0.0.7:8080', FLAGMETER_SERVICE_SCOPE: 'flags' };
    expect(load([], env).serviceScope).toBe('flags');
    expect(serviceLinksIn(env)).toEqual([name]);
  });

  it('ignores the variables of the commands that talk to a server', () => {
    const env = Object.fromEntries(Object.values(clientVariables).map((name) => [name, 'x']));
    expect(load([], env)).toEqual(load([]));
  });

  it.each([
    ['100000000', 100_000_000],
    ['100000KiB', 102_400_000],
    ['90MiB', 94_371_840],
    ['1GiB', 1_073_741_824],
  ])('reads %s as %i bytes', (text, bytes) => {
    expect(load(['--queue-high-bytes', text]).queueHighBytes).toBe(bytes);
    expect(load(['--config', 'f.json'], {}, { queueHighBytes: text }).queueHighBytes).toBe(bytes);
  });

  it('takes twice the rate as the burst', () => {
    expect(load(['--rate', '7']).burst).toBe(14);
    expect(load(['--rate', '0']).burst).toBe(0);
    expect(load(['--rate', '7', '--burst', '1']).burst).toBe(1);
  });

  it.each(['127.0.0.1:8080', ':8080', '[::1]:8080', '[fe80::1%eth0]:1', 'localhost:0', 'a-b.example:65535'])(
    'takes the address %s',
    (address) => {
      expect(load(['--listen', address]).listen).toBe(address);
    },
  );

  it.each(['http://a', 'https://a.example:8443/base/path', 'http://[::1]:8080', 'http://127.0.0.1'])(
    'takes the URL %s',
    (url) => {
      expect(load(['--auth-url', url]).authUrl).toBe(url);
    },
  );
});

describe('loadConfig refuses', () => {
  const wholeNumber = 'must be a whole number';
  it.each<[string[], string]>([
    [['--workers', '0'], `Cannot use --workers 0: ${wholeNumber} from 1 to 64`],
    [['--workers', '65'], `Cannot use --workers 65: ${wholeNumber} from 1 to 64`],
    [['--workers', '1.5'], `Cannot use --workers 1.5: ${wholeNumber} from 1 to 64`],
    [['--workers', '1KiB'], `Cannot use --workers 1KiB: ${wholeNumber} from 1 to 64`],
    [['--workers', ''], `Cannot use --workers : ${wholeNumber} from 1 to 64`],
    [['--workers', '-1'], `Cannot use --workers -1: ${wholeNumber} from 1 to 64`],
    [
      ['--queue-low-bytes', '5MB'],
      `Cannot use --queue-low-bytes 5MB: ${wholeNumber}, at least 0 bytes, or end in KiB, MiB or GiB`,
    ],
    [['--rate', '99999999999999999999'], `Cannot use --rate 99999999999999999999: ${wholeNumber}`],
    [['--listen', '8080'], 'Cannot use --listen 8080: must be HOST:PORT'],
    [['--listen', 'a:65536'], 'Cannot use --listen a:65536: must be HOST:PORT'],
    [['--listen', '::1:80'], 'Cannot use --listen ::1:80: must be HOST:PORT'],
    [['--listen', 'http://a:80'], 'Cannot use --listen http://a:80: must be HOST:PORT'],
    [['--auth-url', 'https://a/'], 'Cannot use --auth-url https://a/: must be an absolute http or https URL'],
    [['--auth-url', 'a.example'], 'Cannot use --auth-url a.example: must be an absolute'],
    [['--auth-url', 'https://a?b'], 'Cannot use --auth-url https://a?b: must be an absolute'],
    [['--auth-url', 'https://a#b'], 'Cannot use --auth-url https://a#b: must be an absolute'],
    [['--auth-url', 'ftp://a'], 'Cannot use --auth-url ftp://a: must be an absolute'],
    [['--service-scope', 'openid'], 'Cannot use --service-scope openid: must be one word'],
    [['--service-scope', 'a b'], 'Cannot use --service-scope a b: must be one word'],
    [['--service-scope', 'a"b'], 'Cannot use --service-scope a"b: must be one word'],
    [['--log-level', 'loud'], 'Cannot use --log-level loud: must be debug, info, warn or error'],
    [['--data', ''], 'Cannot use --data : must be a path'],
    [['--existing=yes'], 'Cannot use --existing with a value: it takes none'],
    [['--tls-cert', 'c.pem'], 'Cannot use --tls-cert: needs --tls-key too'],
    [['--tls-key', 'k.pem'], 'Cannot use --tls-key: needs --tls-cert too'],
    [['--workers'], 'Cannot use --workers alone: a value must follow'],
    [['--data', '--workers', '1'], 'Cannot use --data alone: a value must follow'],
    [['serve'], "Cannot use the argument 'serve': only flags (--name value) are taken"],
    [['-d', 'x'], "Cannot use the argument '-d': only flags"],
    [['--worker', '1'], 'Unknown flag --worker; the nearest known one is --workers'],
    [['--maxBody=1'], 'Unknown flag --maxBody; the nearest known one is --max-body'],
    [['--config', 'none.json'], "Cannot read --config none.json: ENOENT: no such file 'none.json'"],
  ])('%j', (argv, message) => {
    expect(() => load(argv)).toThrow(UsageError);
    expect(() => load(argv)).toThrow(message);
  });

  it.each<[string[], string]>([
    [
      ['--queue-low-packets', '30000'],
      'Cannot use --queue-low-packets 30000: must be below --queue-high-packets, which is 20000',
    ],
    [
      ['--queue-high-packets', '9000'],
      'Cannot use --queue-low-packets 10000 (the default): must be below --queue-high-packets, which is 9000',
    ],
    [
      ['--queue-low-bytes', '128MiB'],
      'Cannot use --queue-low-bytes 128MiB: must be below --queue-high-bytes, which is 128MiB',
    ],
    [
      ['--queue-low-age', '5000'],
      'Cannot use --queue-low-age 5000: must be below --queue-high-age, which is 5000',
    ],
    [
      ['--batch-packets', '20001'],
      'Cannot use --batch-packets 20001: must be at most --queue-high-packets, which is 20000',
    ],
    [
      ['--max-body', '1MiB', '--queue-high-bytes', '1000KiB', '--queue-low-bytes', '1'],
      'Cannot use --max-body 1MiB: must be at most --queue-high-bytes, which is 1000KiB',
    ],
    [['--burst', '0'], 'Cannot use --burst 0: must be at least 1 while --rate is 10000'],
  ])('%j, which do not go together', (argv, message) => {
    expect(() => load(argv)).toThrow(new UsageError(message));
  });

  it('a variable, saying which one', () => {
    expect(() => load([], { FLAGMETER_WORKERS: 'many' })).toThrow(
      'Cannot use --workers many (from FLAGMETER_WORKERS): must be a whole number from 1 to 64',
    );
    expect(() => load([], { FLAGMETER_WORKER: '1' })).toThrow(
      'Unknown environment variable FLAGMETER_WORKER; the nearest known one is FLAGMETER_WORKERS',
    );
    expect(() => load([], { FLAGMETER_PROT: '1' })).toThrow(/^Unknown environment variable FLAGMETER_PROT$/);
  });

  it.each<[unknown, string | RegExp]>([
    [{ workers: '99' }, 'Cannot use --workers 99 (from f.json): must be a whole number from 1 to 64'],
    [{ workers: 1.5 }, 'Cannot use --workers 1.5 (from f.json)'],
    [{ workers: null }, 'Cannot use --workers null (from f.json)'],
    [{ workers: [1] }, 'Cannot use --workers [1] (from f.json)'],
    [{ data: 7 }, 'Cannot use --data 7 (from f.json): must be a path'],
    [{ worker: 1 }, 'Unknown key worker in f.json; the nearest known one is workers'],
    [{ config: 'g.json' }, /^Unknown key config in f.json$/],
    ['{"__proto__": 1}', 'Unknown key __proto__ in f.json'],
    [{ maxBody: 100, 'max-body': 100 }, 'Cannot use f.json: maxBody is in it twice'],
    [[], 'Cannot use --config f.json: must hold one JSON object'],
    ['null', 'Cannot use --config f.json: must hold one JSON object'],
    ['{', 'Cannot use --config f.json: must be valid JSON (line 1, column 2: close brace expected)'],
    ['{\n  "rate": 5\n  "data": "d"\n}', 'must be valid JSON (line 3, column 3: comma expected)'],
    ['{"rate": 5,}', 'must be valid JSON (line 1, column 12: property name expected)'],
    ['', 'must be valid JSON (line 1, column 1: value expected)'],
  ])('the file %j', (file, message) => {
    expect(() => load(['--config', 'f.json'], {}, file)).toThrow(message);
    expect(() => load(['--config', 'f.json'], {}, file)).toThrow(UsageError);
  });

  it('without repeating what may be secret', () => {
    const secret = 'pa55word-of-mine';
    const tries = [
      () => load([`--password=${secret}`]),
      () => load([], { FLAGMETER_PASSWORD: secret }),
      () => load(['--config', 'f.json'], {}, { password: secret }),
      () => load(['--config', 'f.json'], {}, `{"password": ${secret}}`),
      () => load(['--auth-url', `https://me:${secret}@a`]),
      () => load(['--tls-key', secret]),
      () => load(['--tls-cert', secret]),
      () => load([], { FLAGMETER_TLS_KEY: secret }),
      () => load(['--config', 'f.json'], {}, { tlsKey: [secret] }),
      () => load(['--engine', `mysql://me:${secret}@db/a`]),
      () => load([], { FLAGMETER_ENGINE: secret }),
      () => load(['--engine-file', 'f.json'], {}, secret),
      () => load(['--engine-file', `postgres://me:${secret}@db/a`]),
      () => load([`--engine=postgres://me:${secret}@db/a`, '--workers=2']),
      () => load([`--engine=postgres://me:${secret}@db/a`, '--engine-file=f.json'], {}, 'postgres://db/a'),
      () => load([`-----BEGIN PRIVATE KEY-----\n${secret}`]),
    ];
    for (const attempt of tries) {
      expect(attempt).toThrow(UsageError);
      expect(attempt).not.toThrow(secret);
    }
  });

  it('anything wrong with no other error than its own', () => {
    const flag = fc.constantFrom(...settings.map((setting) => `--${setting.flag}`));
    fc.assert(
      fc.property(fc.array(fc.oneof(flag, fc.string())), fc.json(), (argv, file) => {
        try {
          load([...argv, '--config=f.json'], {}, file);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});
