import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { frontThreads } from '../support/front-threads.ts';
import { describePackets } from '../support/packet-suite.ts';

for (const threads of [0, 3])
  describePackets(`the compiled executable with ${threads} front-end threads`, async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    const service = await startBinary({ data, args: frontThreads(threads) });
    return { http: service.http, metrics: service.metrics, credentials, stop: () => stop(service) };
  });
