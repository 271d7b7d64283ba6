import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { ops } from './alerting.ts';
import { freshDirectory, startBinary } from './binary.ts';

/** Starts a service with a certificate. `renew` replaces the certificate by a new one, valid for some days. */
export async function startSecured() {
  const directory = freshDirectory();
  const file = (name: string) => join(directory, name);
  const make = (days: number) => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('new.key')];
    const own = ['-subj', '/CN=localhost', '-days', String(days), '-out', file('new.pem')];
    execFileSync('openssl', ['req', '-x509', ...key, ...own], { stdio: 'ignore' });
    for (const name of ['key', 'pem']) copyFileSync(file(`new.${name}`), file(name));
  };
  make(400);
  const service = await startBinary({ args: [...ops, '--tls-cert', file('pem'), '--tls-key', file('key')] });
  return { service, make };
}
