import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { freshDirectory, type StartedProcess, startProcess } from '../support/binary.ts';

/** The credentials that the server accepts. It does not check signatures of version 4; `startSignatureCheck` does. */
export const knownCredentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/**
 * Starts a server of the S3 protocol with one bucket. The server runs in a Node process, because it does not run on
 * Bun.
 */
export function startS3Server(bucket: string): Promise<StartedProcess> {
  const s3rver = pathToFileURL(createRequire(import.meta.url).resolve('s3rver')).href;
  const options = {
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: freshDirectory(),
    configureBuckets: [{ name: bucket, configs: [] }],
  };
  const script = `import S3rver from '${s3rver}';
    const { port } = await new S3rver(${JSON.stringify(options)}).run();
    console.log('s3rver ready http=127.0.0.1:' + port);`;
  return startProcess('node', ['--input-type=module', '--eval', script]);
}
