import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { sha256, sha256Of } from '../../scripts/release/checksums.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { sharedRelease } from './fixture.ts';
import { saidIn } from './said.ts';

/** Reference to a blob, as the image specification of OCI defines it. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const { describe, test } = needing('dpkg', 'zstd');

describe('the image of a release', () => {
  let folder: string;
  let config: {
    readonly architecture: string;
    readonly rootfs: { readonly diff_ids: readonly string[] };
    readonly config: {
      readonly [name in 'Env' | 'Entrypoint' | 'Cmd']: readonly string[];
    } & { readonly User: string; readonly Volumes: object; readonly Healthcheck: { readonly Test: readonly string[] } };
  };
  let layers: readonly Descriptor[];

  const pathOf = ({ digest }: Descriptor) => join(folder, 'blobs', digest.replace(':', '/'));
  const read = (descriptor: Descriptor) => JSON.parse(readFileSync(pathOf(descriptor), 'utf8'));

  beforeAll(() => {
    folder = freshDirectory();
    execFileSync('tar', ['-xf', join(sharedRelease(), 'flagmeter-1.2.3-image.tar'), '-C', folder]);
    const { manifests } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
    const [manifest] = read(manifests[0]).manifests;
    ({ layers } = read(manifest));
    config = read(read(manifest).config);
  }, 300_000);

  test('each blob of the image has the digest and the size in the reference to the blob', () => {
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')).manifests[0];
    const [manifest] = read(index).manifests;
    for (const blob of [index, manifest, read(manifest).config, ...layers])
      expect([`sha256:${sha256Of(pathOf(blob))}`, statSync(pathOf(blob)).size]).toEqual([blob.digest, blob.size]);
    const options = { maxBuffer: 1 << 28 };
    const unpacked = layers.map((blob) => execFileSync('zstd', ['-dc', pathOf(blob)], options));
    expect(unpacked.map((bytes) => `sha256:${sha256(bytes)}`)).toEqual(config.rootfs.diff_ids);
    expect(manifest.platform).toEqual({ architecture: 'amd64', os: 'linux' });
  });

  test('the image sets only valid variables, and no public URL', () => {
    const { Env, User, Cmd, Volumes } = config.config;
    const variables = Env.filter((variable) => variable.startsWith('FLAGMETER_'));
    const env = Object.fromEntries(variables.map((variable) => variable.split('=')));
    const settings = loadConfig({ argv: [], env, readFile: () => '' });
    expect(settings).toMatchObject({ data: Object.keys(Volumes)[0], listen: '0.0.0.0:8080' });
    expect(() => checkPublicUrls(settings)).toThrow('without --auth-url');
    expect({ User, Cmd }).toEqual({ User: '65532:65532', Cmd: ['serve', '--existing'] });
  });

  const skip = process.getuid?.() !== 0;
  test('the image runs a server as its own user, and its health check detects a stopped server', { skip }, () => {
    const rootfs = join(folder, 'rootfs');
    for (const name of ['proc', 'dev']) mkdirSync(join(rootfs, name), { recursive: true });
    for (const layer of layers) execFileSync('tar', ['--zstd', '-xpf', pathOf(layer), '-C', rootfs]);
    const script = join(import.meta.dirname, 'image-root.sh');
    const { Env, Entrypoint, Cmd, Healthcheck } = config.config;
    const command = [...Entrypoint, ...Cmd].join(' ');
    const args = ['--mount', '--net', '--pid', '--fork', 'env', '--ignore-environment', ...Env];
    const check = Healthcheck.Test.at(-1)!;
    const { stdout, stderr } = spawnSync('unshare', [...args, 'bash', script, rootfs, command, check], {
      encoding: 'utf8',
    });
    expect(saidIn(stdout), `${stdout}\n${stderr}`).toEqual(expected);
  });
});

/** The expected lines in the output of `image-root.sh`, in this order. */
const expected = { health: 'healthy', 'health-after-stop': 'unhealthy', store: '65532:65532 600', done: 'yes' };
