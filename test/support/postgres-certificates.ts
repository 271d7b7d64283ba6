import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Postgres } from './postgres.ts';
import { own } from './postgres-program.ts';

const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** A PostgreSQL server with TLS, and its files. The user `postgres` may connect from anywhere. */
export interface SecurePostgres {
  readonly postgres: Postgres;
  /** Returns the path of `root.pem`, `other.pem` (a root that has signed nothing), `client.pem` or `client.key`. */
  file(name: string): string;
  close(): Promise<void>;
}

/** Starts a server with a certificate for `localhost`. @param access pg_hba.conf for users other than `postgres` */
export async function securePostgres(access: string): Promise<SecurePostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'flagmeter-certificates-'));
  const file = (name: string) => join(directory, name);
  makeCertificates(directory);
  const postgres = await Postgres.prepare({ access: `host all postgres all trust\n${access}` });
  for (const name of ['server.pem', 'server.key', 'root.pem', '.']) own(file(name));
  postgres.set({ ssl: 'on', ssl_cert_file: `'${file('server.pem')}'`, ssl_key_file: `'${file('server.key')}'` });
  postgres.set({ ssl_ca_file: `'${file('root.pem')}'` });
  await postgres.start();
  const close = async () => {
    await postgres.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { postgres, file, close };
}

/** Creates a root certificate, certificates of a server and a client, and another root that has signed nothing. */
function makeCertificates(directory: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  for (const name of ['root', 'other']) {
    const key = [...elliptic, '-keyout', `${name}.key`];
    openssl('req', '-x509', ...key, '-out', `${name}.pem`, '-subj', `/CN=${name}`, '-days', '2');
  }
  for (const [name, subject, more] of [
    ['server', '/CN=localhost', 'subjectAltName=DNS:localhost'],
    ['client', '/CN=shown', 'extendedKeyUsage=clientAuth'],
  ] as const) {
    openssl('req', ...elliptic, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
    writeFileSync(join(directory, 'extensions'), more);
    const signed = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-extfile', 'extensions', '-out', `${name}.pem`);
  }
}
