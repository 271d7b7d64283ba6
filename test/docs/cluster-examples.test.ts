import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { needing } from '../support/needing.ts';
import { findUnitFaults } from '../support/unit-faults.ts';

/** These tests check the examples without running them. test/nodes/load-balancers.test.ts runs two of them. */

const folder = join(import.meta.dirname, '../../docs/examples/cluster');
const readText = (name: string) => readFileSync(join(folder, name), 'utf8');

const [postgresUrl = ''] = /postgres:\/\/flagmeter\S+(?=')/.exec(readText('compose.yaml')) ?? [];
const readFile = (path: string) => (path.endsWith('postgres-url') ? postgresUrl : readText('node.json'));

interface Service {
  readonly environment: Record<string, string>;
  readonly networks: { readonly cluster: { readonly ipv4_address?: string } };
}

describe('the Compose file', () => {
  const { services } = parse(readText('compose.yaml'), { merge: true }) as { services: Record<string, Service> };
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node'));

  test('the Compose file gives each of three nodes valid settings and a unique name', () => {
    const names = nodes.map(([, { environment }]) => {
      const read = loadConfig({ argv: [], env: environment, readFile });
      expect(read).toMatchObject({ postgres: postgresUrl, data: '/var/lib/flagmeter' });
      expect(() => checkPublicUrls(read)).not.toThrow();
      expect(Object.keys(environment)).toSatisfy((keys: string[]) => keys.every((key) => /^FLAGMETER_/.test(key)));
      return read.nodeName;
    });
    expect(names).toEqual(['node1', 'node2', 'node3']);
  });

  test('the Compose file gives the containers the addresses that the other examples use', () => {
    const given = Object.values(services).flatMap(({ networks }) => networks.cluster.ipv4_address ?? []);
    const others = ['haproxy.cfg', 'nginx.conf', 'patroni.yml', 'node.json'].map(readText).join('\n');
    const named = others.match(/\b10\.0\.\d\.\d(?=[:"])/g) ?? [];
    expect([...new Set(given)]).toHaveLength(10);
    expect([...new Set(named)].filter((address) => !given.includes(address))).toEqual([]);
  });
});

test('the example configuration of a node has only valid settings', () => {
  const read = loadConfig({ argv: ['--config', 'node.json'], env: {}, readFile: readText });
  expect(read).toMatchObject({ data: '/var/lib/flagmeter', authUrl: 'https://flags.example.com' });
  expect(() => checkPublicUrls(read)).not.toThrow();
});

test('the Patroni example promotes only standbys that have every commit, and makes commits durable', () => {
  const { bootstrap } = parse(readText('patroni.yml')) as {
    bootstrap: { dcs: { postgresql: { parameters: object } } };
  };
  expect(bootstrap.dcs).toMatchObject({
    synchronous_mode: true,
    synchronous_mode_strict: true,
    synchronous_node_count: 1,
  });
  expect(bootstrap.dcs.postgresql.parameters).toMatchObject({ fsync: 'on', synchronous_commit: 'on' });
});

describe('the systemd unit of a node', () => {
  const unit = readText('flagmeter.service');

  test('the systemd unit of a node runs an existing command', () => {
    const [, words = ''] = /^ExecStart=\S+ (.*)$/m.exec(unit) ?? [];
    const [command, ...argv] = words.replaceAll('%d', '/run/credentials').split(' ');
    const read = loadConfig({ argv, env: {}, readFile });
    expect([command, read.postgresFile, read.postgresKeyFile]).toEqual([
      'serve',
      '/run/credentials/postgres-url',
      '/run/credentials/postgres-key',
    ]);
  });

  needing('systemd').test('systemd-analyze accepts the unit of a node', () => {
    expect(findUnitFaults(unit)).toEqual([]);
  });
});
