import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  PostgresUrlError,
  parsePostgresUrl,
  showPostgres,
  tlsModes,
} from '../../../src/replication/postgres/postgres-url.ts';

describe('a PostgreSQL URL', () => {
  it('a PostgreSQL URL contains hosts, database, user, password, TLS settings and options', () => {
    const url =
      'postgres://fm:p%40ss%2Fw%3A@db1,db2:6432,[2001:db8::1]:7000,10.0.0.1/flag%20meter?sslmode=verify-ca&sslrootcert=/etc/root.pem&connect_timeout=10&options=-c%20search_path%3Dfm&target_session_attrs=read-write';
    expect(parsePostgresUrl(url)).toEqual({
      hosts: [
        { host: 'db1', port: 5432 },
        { host: 'db2', port: 6432 },
        { host: '2001:db8::1', port: 7000 },
        { host: '10.0.0.1', port: 5432 },
      ],
      database: 'flag meter',
      user: 'fm',
      password: 'p@ss/w:',
      tls: { mode: 'verify-ca', rootFile: '/etc/root.pem', certificateFile: undefined, keyFile: undefined },
      connectTimeoutMs: 10_000,
      options: '-c search_path=fm',
    });
  });

  it.each([
    ['postgres://u@localhost/d', 'disable'],
    ['postgres://u@127.0.0.1,[::1]:1/d', 'disable'],
    ['postgres://u@%2Frun%2Fpostgresql/d', 'disable'],
    ['postgres://u@localhost,db/d', 'verify-full'],
    ['postgres://u@db/d', 'verify-full'],
    ['postgres://u@localhost/d?sslrootcert=system', 'verify-full'],
    ['postgresql://u@db/d?sslmode=require', 'require'],
  ])('the PostgreSQL URL %s has the TLS mode %s', (url, mode) => {
    expect(parsePostgresUrl(url).tls.mode).toBe(mode);
  });

  it('a PostgreSQL URL is shown without the password and the parameters', () => {
    const url = 'postgres://a%40b:hidden@[::1]:5432,%2Frun:5433/d?options=-c%20x%3Dhidden';
    const shown = showPostgres(parsePostgresUrl(url));
    expect(shown).toBe('postgres://a%40b@[::1]:5432,%2Frun:5433/d');
    expect(parsePostgresUrl(shown)).toMatchObject({ user: 'a@b', hosts: parsePostgresUrl(url).hosts });
  });

  it.each([
    ['mysql://u@h/d', 'must begin with postgres://'],
    ['', 'must begin with postgres://'],
    ['postgres://h/d', 'names no user'],
    ['postgres://:p@h/d', 'names no user'],
    ['postgres://u@h', 'names no database'],
    ['postgres://u@h/', 'names no database'],
    ['postgres://u@/d', 'Host 1 in the PostgreSQL URL is not a host name'],
    ['postgres://u@h,/d', 'Host 2 in the PostgreSQL URL is not a host name'],
    ['postgres://u@h_1,h 2/d', 'Host 2 in the PostgreSQL URL is not a host name'],
    ['postgres://u@h:0/d', 'Host 1 in the PostgreSQL URL has a port'],
    ['postgres://u@a,h:65536/d', 'Host 2 in the PostgreSQL URL has a port'],
    ['postgres://u@h:x/d', 'has a port that is not a number'],
    ['postgres://u@::1/d', 'write an IPv6 address in brackets'],
    ['postgres://u@[h]/d', 'has no IPv6 address in its brackets'],
    ['postgres://u@h/d?sslmode=prefer', 'sslmode in the PostgreSQL URL must be one of disable, require'],
    ['postgres://u@h/d?sslmode=require&sslrootcert=f', 'use sslmode=verify-full'],
    ['postgres://u@h/d?sslcert=f', 'both sslcert and sslkey'],
    ['postgres://u@h/d?connect_timeout=0', 'from 1 to 60'],
    ['postgres://u@h/d?connect_timeout=x', 'from 1 to 60'],
    ['postgres://u@h/d?timeout=3', 'has an unknown parameter. Known are sslmode'],
    ['postgres://u@h/d?sslmode=disable&sslmode=require', 'the parameter sslmode twice'],
    ['postgres://u@h/d?target_session_attrs=any', 'must be read-write or primary'],
    ['postgres://u%@h/d', 'the user in the PostgreSQL URL has invalid percent-encoding'],
    ['postgres://u@h/d#x', 'contains a #'],
  ])('the PostgreSQL URL %j is refused: %s', (url, message) => {
    expect(() => parsePostgresUrl(url)).toThrow(message);
    expect(() => parsePostgresUrl(url)).toThrow(PostgresUrlError);
  });

  it('no part of the password of a PostgreSQL URL is ever shown, whatever its form', () => {
    const secret = fc.string({ minLength: 12, maxLength: 12, unit: fc.constantFrom(...'QXZqxz%#?/@:,&=[]') });
    fc.assert(
      fc.property(secret, fc.constantFrom('@h/d', '@h:x/d', '@h', '@h/d?sslmode=x', ''), (password, rest) => {
        // Only the password contains these letters. Any fragment of at least three characters would therefore be a part
        // of it.
        const splitSecret = (text: string) => text.split(/[^QXZqxz]+/).filter((fragment) => fragment.length > 2);
        let said = '';
        let fragments = splitSecret(password);
        try {
          const address = parsePostgresUrl(`postgres://u:${password}${rest}`);
          said = showPostgres(address);
          // If the password contains an @, the text after it is parsed as the host and the database.
          if (rest === '') fragments = splitSecret(address.password ?? '');
        } catch (error) {
          said = (error as Error).message;
        }
        expect(fragments.filter((fragment) => said.includes(fragment))).toEqual([]);
      }),
      {
        examples: [
          ['QQ@QQQQ?QQQQ', ''],
          ['QQ@QQQ/QQQQQ', ''],
        ],
      },
    );
  });
});

it('a PostgreSQL URL is parsed into the parts from which it was composed', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((each) => !each.includes('\0'));
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,9}(\.[a-z0-9]{1,5})?$/);
  const host = fc.oneof(name, fc.ipV4(), fc.ipV6());
  const hosts = fc.array(fc.record({ host, port: fc.integer({ min: 1, max: 65_535 }) }), {
    minLength: 1,
    maxLength: 4,
  });
  const address = fc.record({
    hosts,
    user: text,
    password: text,
    database: text,
    mode: fc.constantFrom(...tlsModes),
    connectTimeout: fc.integer({ min: 1, max: 60 }),
    options: text,
  });
  fc.assert(
    fc.property(address, ({ hosts, user, password, database, mode, connectTimeout, options }) => {
      const e = encodeURIComponent;
      const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
      const url = `postgres://${e(user)}:${e(password)}@${list}/${e(database)}?sslmode=${mode}&options=${e(options)}&connect_timeout=${connectTimeout}`;
      expect(parsePostgresUrl(url)).toMatchObject({
        hosts,
        user,
        password,
        database,
        options,
        tls: { mode },
        connectTimeoutMs: connectTimeout * 1000,
      });
    }),
  );
});
