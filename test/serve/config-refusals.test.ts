import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { settings } from '../../src/contract/config-schema.ts';
import { load } from '../support/load-config.ts';

describe('loadConfig', () => {
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
    [['--existing=yes'], '--existing does not take a value'],
    [['--tls-cert', 'c.pem'], 'Cannot use --tls-cert: needs --tls-key too'],
    [['--tls-key', 'k.pem'], 'Cannot use --tls-key: needs --tls-cert too'],
    [['--workers'], '--workers requires a value'],
    [['--data', '--workers', '1'], '--data requires a value'],
    [['serve'], "Cannot use the argument 'serve': only options (--name value) are accepted"],
    [['-d', 'x'], "Cannot use the argument '-d': only options"],
    [['--worker', '1'], 'Unknown option --worker; the nearest known one is --workers'],
    [['--maxBody=1'], 'Unknown option --maxBody; the nearest known one is --max-body'],
    [['--config', 'none.json'], "Cannot read --config none.json: ENOENT: no such file 'none.json'"],
  ])('loadConfig refuses the options %j', (argv, message) => {
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
    [['--queue-low-age', '5000'], 'Cannot use --queue-low-age 5000: must be below --queue-high-age, which is 5000'],
    [
      ['--commit-delay', '900', '--queue-high-age', '900', '--queue-low-age', '0'],
      'Cannot use --commit-delay 900: must be below --queue-high-age, which is 900',
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
  ])('loadConfig refuses the conflicting options %j', (argv, message) => {
    expect(() => load(argv)).toThrow(new UsageError(message));
  });

  it('the error for an invalid environment variable contains its name', () => {
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
    [{ maxBody: 100, 'max-body': 100 }, 'Cannot use f.json: duplicate key maxBody'],
    [[], 'Cannot use --config f.json: must contain one JSON object'],
    ['null', 'Cannot use --config f.json: must contain one JSON object'],
    ['{', 'Cannot use --config f.json: must be valid JSON (line 1, column 2: close brace expected)'],
    ['{\n  "rate": 5\n  "data": "d"\n}', 'must be valid JSON (line 3, column 3: comma expected)'],
    ['{"rate": 5,}', 'must be valid JSON (line 1, column 12: property name expected)'],
    ['', 'must be valid JSON (line 1, column 1: value expected)'],
  ])('loadConfig refuses a configuration file with the content %j', (file, message) => {
    expect(() => load(['--config', 'f.json'], {}, file)).toThrow(message);
    expect(() => load(['--config', 'f.json'], {}, file)).toThrow(UsageError);
  });

  it('an error of loadConfig does not quote a possible secret', () => {
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
      () => load(['--postgres', `mysql://me:${secret}@db/a`]),
      () => load([], { FLAGMETER_POSTGRES: secret }),
      () => load(['--postgres-file', 'f.json'], {}, secret),
      () => load(['--postgres-file', `postgres://me:${secret}@db/a`]),
      () => load([`--postgres=postgres://me:${secret}@db/a`, '--workers=2']),
      () => load([`--postgres=postgres://me:${secret}@db/a`, '--postgres-file=f.json'], {}, 'postgres://db/a'),
      () => load([`-----BEGIN PRIVATE KEY-----\n${secret}`]),
    ];
    for (const attempt of tries) {
      expect(attempt).toThrow(UsageError);
      expect(attempt).not.toThrow(secret);
    }
  });

  it('loadConfig throws only a UsageError for any invalid input', () => {
    const option = fc.constantFrom(...settings.map((setting) => `--${setting.option}`));
    fc.assert(
      fc.property(fc.array(fc.oneof(option, fc.string())), fc.json(), (argv, file) => {
        try {
          load([...argv, '--config=f.json'], {}, file);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});
