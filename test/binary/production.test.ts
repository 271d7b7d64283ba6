import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { binaryPath, freshDirectory, requireBinary, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { patienceMs } from '../support/patience.ts';

const root = join(import.meta.dirname, '../..');
const checklist = readFileSync(join(root, 'docs/production.md'), 'utf8');

/** Returns the first code block in a section of the checklist that contains `words`. */
function readBlock(words: string): string {
  const blocks = Array.from(checklist.matchAll(/^```\w+\n(.*?)^```$/gms), ([, block = '']) => block);
  const block = blocks.find((each) => each.includes(words));
  if (block === undefined) throw new Error(`docs/production.md has no code block with ${words}`);
  return block;
}

/** Replaces the paths of the checklist, and leaves out what needs root or systemd. */
function adapt(text: string, folder: string): string {
  return text
    .replaceAll(/(?<![\w/])\/(etc\/flagmeter|var\/lib\/flagmeter|var\/backups\/flagmeter)/g, `${folder}/$1`)
    .replaceAll(/--(owner|group)=flagmeter /g, '')
    .replaceAll(/^systemctl .*$|runuser --user=flagmeter -- | && chown flagmeter \S+/gm, '')
    .replaceAll(/setpriv (--\S+ )*\\\n\s*/g, '');
}

/** Returns the common name of the server's certificate. */
function readName(address: string): Promise<string> {
  const [host, port] = address.split(':') as [string, string];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

const settings = {
  listen: '127.0.0.1:0',
  'grpc-listen': '127.0.0.1:0',
  'ops-listen': '127.0.0.1:0',
  'auth-url': 'https://localhost',
};

needing('openssl').test(
  'the commands of the production checklist lead to a restored backup',
  async () => {
    requireBinary();
    const folder = freshDirectory();
    const bin = join(folder, 'bin');
    for (const each of ['bin', 'etc/flagmeter', 'var/lib', 'var/backups/flagmeter', 'live'])
      mkdirSync(join(folder, each), { recursive: true });
    writeFileSync(join(bin, 'flagmeter'), `#!/bin/sh\nexec ${binaryPath} "$@"\n`, { mode: 0o755 });
    const { PATH = '', TMPDIR = '/tmp' } = process.env;
    const env = { PATH: `${bin}:${PATH}`, TMPDIR, HOME: folder, RENEWED_LINEAGE: join(folder, 'live') };
    const run = async (commands: string) => {
      const options = { cwd: folder, env, timeout: patienceMs };
      return (await promisify(execFile)('bash', ['-ec', adapt(commands, folder)], options)).stdout;
    };
    const renew = (cert: string, key: string) => {
      copyFileSync(join(root, `test/http/support/tls/${cert}.pem`), join(folder, 'live/fullchain.pem'));
      copyFileSync(join(root, `test/http/support/tls/${key}.pem`), join(folder, 'live/privkey.pem'));
      return run(readBlock('RENEWED_LINEAGE'));
    };

    await renew('cert', 'key');
    await run(readBlock('openssl rand'));
    const config = join(folder, 'etc/flagmeter/flagmeter.json');
    const written = JSON.parse(adapt(readBlock('"ops-listen"'), folder)) as Record<string, string>;
    writeFileSync(config, JSON.stringify({ ...written, ...settings }));
    const checked = await run(readBlock('serve --check'));
    const [, clientId = ''] = /Client id\s+(\S+)/.exec(checked) ?? [];
    const [, clientSecret = ''] = /Client secret\s+(\S+)/.exec(checked) ?? [];
    expect(checked).toMatch(/^ok {7}TLS files$/m);
    expect(checked).not.toMatch(/^(problem|warning)/m);

    const server = await startProcess(binaryPath, ['serve', '--existing', '--config', config]);
    const first = await readName(server.http);
    await renew('other-cert', 'other-key');
    server.kill('SIGHUP');
    await vi.waitFor(async () => expect(await readName(server.http)).not.toBe(first), patienceMs);
    const backups = join(folder, 'var/backups/flagmeter');
    const [backup = ''] = await vi.waitFor(() => {
      const found = readdirSync(backups).filter((name) => /^flagmeter-.*\.backup$/.test(name));
      expect(found).toHaveLength(1);
      return found;
    }, patienceMs);
    await stop(server);

    const [verify = '', restore = ''] = readBlock('flagmeter verify')
      .replaceAll('FILE --', `${join(backups, backup)} --`)
      .replaceAll('KEY-FILE', `${folder}/etc/flagmeter/backup-key`)
      .split('\n');
    expect(await run(verify)).toContain('every record is in order');
    await run(restore);
    const drill = ['serve', '--existing', '--data', join(folder, 'drill'), ...freePorts];
    const restored = await startProcess(binaryPath, drill);
    writeFileSync(join(folder, 'secret'), clientSecret);
    const login = `--client-id ${clientId} --client-secret-file secret`;
    await run(readBlock('CLIENT-ID').replace('127.0.0.1:8090', restored.http).replace('--client-id CLIENT-ID', login));
    await stop(restored);
  },
  patienceMs,
);
