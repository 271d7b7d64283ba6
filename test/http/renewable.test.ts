import { copyFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { listenRenewably, type RenewableListener, reopenAll } from '../../src/http/tls.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const pem = (name: string) => fileURLToPath(new URL(`support/tls/${name}.pem`, import.meta.url));

/** Opens a TLS listener with its own copy of the files. */
async function open() {
  const folder = temporaryDirectory();
  const tls = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  copyFileSync(pem('cert'), tls.certFile);
  copyFileSync(pem('key'), tls.keyFile);
  const options = { host: '127.0.0.1', port: 0, tls, dispatch: () => ({ status: 204 }) };
  const listener = await listenRenewably(await loadHttpEngine(), options);
  onTestFinished(() => listener.close(0));
  return { listener, tls };
}

/** Returns the serial number of the certificate that new connections get. */
function readCertificate({ port }: RenewableListener): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.serialNumber);
      socket.destroy();
    }).on('error', reject);
  });
}

test('all listeners keep their certificates if one listener cannot use its new files', async () => {
  const one = await open();
  const other = await open();
  const before = await readCertificate(one.listener);
  copyFileSync(pem('other-cert'), one.tls.certFile);
  copyFileSync(pem('other-key'), one.tls.keyFile);
  writeFileSync(other.tls.certFile, 'broken');
  await expect(reopenAll([one.listener, other.listener])).rejects.toThrow('Cannot use the certificate');
  expect(await readCertificate(one.listener)).toBe(before);

  copyFileSync(pem('cert'), other.tls.certFile);
  const renewal = await reopenAll([one.listener, other.listener]);
  await renewal.finish(0);
  expect(await readCertificate(one.listener)).not.toBe(before);
});
