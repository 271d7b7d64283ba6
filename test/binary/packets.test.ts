import { afterAll } from 'vitest';
import { cleanUp, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { describePackets } from '../support/packet-suite.ts';

afterAll(cleanUp);

describePackets('the compiled executable', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const service = await startBinary({ data });
  return { http: service.http, credentials, stop: () => stop(service) };
});
