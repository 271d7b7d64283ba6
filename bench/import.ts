import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import {
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../test/support/binary.ts';
import { openSender } from '../test/support/packet-sender.ts';
import { runProgram } from '../test/support/run-binary.ts';
import { type Benchmark, note, noteErrors, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { cpuSeconds, ownMb, peakRssMb } from './process-stats.ts';
import { prepareStore } from './service.ts';

const hourMs = 3_600_000;
const variants = ['on', 'off', 'new'] as const;
/** Interval between two packets during the import, ms. */
const packetMs = 20;

/** Measures the duration of an import, and its effect on the server and on packets. */
export const importRows: Benchmark = {
  summary: 'duration of an import, memory of the server, and latency of packets during it',
  usage: '[--json] [--flags 2000] [--days 70] [--small] [--binary dist/flagmeter]',
  async run(args) {
    // 2 000 flags of three variants with counts in each hour of 70 days result in 10 million rows.
    const options = readOptions(args, { flags: 2000, days: 70 }, { flags: 20, days: 2 });
    try {
      const figures = await measure(options);
      show(options.json, { ...figures }, [
        ...Object.entries(figures).map(([name, value]) => [name, String(value)]),
        [],
        ['ownMb: memory without the pages of files; packetP50Ms, packetP99Ms: packets during the import'],
      ]);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'days', number>> & { readonly binary: string };

async function measure({ binary, flags, days }: Options): Promise<Record<string, number>> {
  const path = join(freshDirectory(), 'history.csv');
  const rows = await writeHistory(path, flags, days);
  note(`the file has ${rows} rows, ${round(statSync(path).size / 2 ** 20)} MiB`);
  const data = `${freshDirectory()}/data`;
  const credentials = await prepareStore(data, binary);
  const service = await startBinary({ data, binary });
  try {
    const access = await token(service.http, credentials);
    const application = await createApplication(service.http, access, { name: 'bench' });
    const { key } = await createKey(service.http, access, application, 'Frontend');
    const beforeMb = ownMb(service.pid);
    const cpuBefore = cpuSeconds(service.pid);
    const began = performance.now();
    const watched = watch(service.http, service.pid, key);
    const target = ['--format', 'csv', '--app', 'bench', '--env', 'Production', '--json'];
    const env = { FLAGMETER_URL: `http://${service.http}`, FLAGMETER_TOKEN: access, HOME: data };
    const ended = await runProgram(binary, ['import', path, ...target], env, 600_000);
    const seconds = (performance.now() - began) / 1000;
    const { refused, ...packets } = await watched.end();
    if (ended.code !== 0) throw new Error(`The import failed: ${ended.stderr}`);
    if (JSON.parse(ended.stdout).imported !== rows) throw new Error(`Rows are missing: ${ended.stdout}`);
    noteErrors('packets', refused === 0 ? {} : { refused });
    return {
      rows,
      seconds: round(seconds, 1),
      rowsPerSecond: round(rows / seconds),
      serverCpuSeconds: round(Math.max(0.01, cpuSeconds(service.pid) - cpuBefore), 2),
      beforeMb: round(beforeMb),
      peakRssMb: round(peakRssMb(service.pid)),
      ...packets,
    };
  } finally {
    await stop(service);
  }
}

/** Writes a row for each variant and hour, the earliest first, as an export does. @returns the number of rows */
async function writeHistory(path: string, features: number, days: number): Promise<number> {
  const file = createWriteStream(path, { highWaterMark: 2 ** 20 });
  file.write('time,environment,feature,variant,checks,used,viewed\r\n');
  const end = Math.floor(Date.now() / hourMs) * hourMs;
  for (let hour = days * 24; hour > 0; hour -= 1) {
    const time = new Date(end - hour * hourMs).toISOString();
    let text = '';
    for (let feature = 0; feature < features; feature += 1)
      for (const variant of variants)
        text += `${time},Production,feature-${feature},${variant},${feature + hour},1,0\r\n`;
    if (!file.write(text)) await once(file, 'drain');
  }
  await finished(file.end());
  return features * variants.length * days * 24;
}

/** Sends packets and measures memory until the import ends. */
function watch(http: string, pid: number, key: string) {
  const sender = openSender(http);
  const latencies: number[] = [];
  let refused = 0;
  let most = 0;
  let isOver = false;
  const send = async () => {
    while (!isOver) {
      const began = performance.now();
      const status = await sender.send({ k: key, e: 'Production', f: { live: { on: [1] } } });
      latencies.push(performance.now() - began);
      if (status !== 202) refused += 1;
      most = Math.max(most, ownMb(pid));
      await new Promise((resolve) => setTimeout(resolve, packetMs));
    }
  };
  const sending = send();
  return {
    async end() {
      isOver = true;
      await sending;
      sender.close();
      latencies.sort((a, b) => a - b);
      const at = (share: number) => round(latencies[Math.floor(share * (latencies.length - 1))]!, 1);
      return { ownMb: round(most), packets: latencies.length, packetP50Ms: at(0.5), packetP99Ms: at(0.99), refused };
    },
  };
}
