import { afterAll } from 'vitest';
import { cleanUp, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { describePackets } from '../support/packet-suite.ts';

afterAll(cleanUp);

for (const threads of ['0', '3'])
  describePackets(`the compiled executable with ${threads} front-end threads`, async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    const service = await startBinary({ data, args: ['--threads', threads] });
    return { http: service.http, credentials, stop: () => stop(service) };
  });
