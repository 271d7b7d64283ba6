import { get } from 'node:http';
import { cleanUp, createApplication, freshDirectory, startBinary, stop, token } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { cpuSeconds, ownMb } from './process-stats.ts';
import { fillHistory, findNumbers, variants } from './report-store.ts';
import { prepareStore } from './service.ts';

const hourMs = 3_600_000;

/** Measures the speed and the memory of a usage export. */
export const exportRows: Benchmark = {
  summary: 'exported rows of usage per second, and memory of the export',
  usage: '[--json] [--flags 2000] [--days 70] [--small] [--binary dist/flagmeter]',
  async run(args) {
    // 2 000 flags of three variants with counts in each hour of 70 days result in 10 million rows.
    const options = readOptions(args, { flags: 2000, days: 70 }, { flags: 20, days: 2 });
    try {
      const figures = await measure(options);
      show(options.json, { ...figures }, [
        ['', 'rows/s', 'rows/CPU s', 'MB/s', 'rows', 's', 'MB before', 'MB more'],
        ...(['csv', 'ndjson'] as const).map((format) => {
          const { rowsPerSecond, rowsPerCpuSecond, mbPerSecond, rows, seconds, beforeMb, moreMb } = figures[format]!;
          return [
            format,
            ...[rowsPerSecond, rowsPerCpuSecond, mbPerSecond, rows, seconds, beforeMb, moreMb].map(String),
          ];
        }),
        [],
        ['MB more: maximum growth of the memory of the service, without the pages of mapped files'],
      ]);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'days', number>> & { readonly binary: string };

interface Figures {
  readonly rows: number;
  readonly seconds: number;
  readonly rowsPerSecond: number;
  /**
   * Rows per second of the service's CPU time. They are more meaningful than rows per elapsed second if other processes
   * use CPU.
   */
  readonly rowsPerCpuSecond: number;
  readonly mbPerSecond: number;
  readonly beforeMb: number;
  readonly moreMb: number;
}

async function measure({ binary, flags, days }: Options): Promise<Record<string, Figures>> {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepareStore(data, binary);
  const empty = await startBinary({ data, binary });
  const application = await createApplication(empty.http, await token(empty.http, credentials), { name: 'bench' });
  await stop(empty);
  const numbers = await findNumbers(data, application);
  const now = Date.now();
  const began = performance.now();
  const history = { environment: numbers.environments[0]!, application: numbers.application, flags, days };
  await fillHistory(data, [{ ...history, hoursADay: 24, minuteHours: 1 }], now);
  note(
    `${flags * variants.length} series and ${days} days were filled in ${round((performance.now() - began) / 1000)} s`,
  );
  const service = await startBinary({ data, binary });
  try {
    const authorization = `Bearer ${await token(service.http, credentials)}`;
    const range = `from=${new Date(now - days * 24 * hourMs).toISOString()}&to=${new Date(now).toISOString()}`;
    const url = `http://${service.http}/api/v2/applications/${application}/usage?environment=Production&step=hour&${range}`;
    const pid = service.pid;
    // The first export starts the report thread, and is not measured.
    await drain(`${url.replace(/from=[^&]*&/, '')}&format=csv`, authorization, pid);
    return {
      csv: await drain(`${url}&format=csv`, authorization, pid),
      ndjson: await drain(`${url}&format=ndjson`, authorization, pid),
    };
  } finally {
    await stop(service);
  }
}

const lineEnd = 10;

/** Reads an export to its end, and discards the rows. */
async function drain(url: string, authorization: string, pid: number): Promise<Figures> {
  const before = ownMb(pid);
  let most = before;
  let lines = 0;
  let bytes = 0;
  const began = performance.now();
  const cpuBefore = cpuSeconds(pid);
  const watch = setInterval(() => {
    most = Math.max(most, ownMb(pid));
  }, 100);
  try {
    await new Promise<void>((resolve, reject) => {
      const request = get(url, { headers: { authorization } }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`The export responded with ${response.statusCode}`));
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          for (let at = chunk.indexOf(lineEnd); at >= 0; at = chunk.indexOf(lineEnd, at + 1)) lines += 1;
        });
        response.on('end', resolve);
        response.on('error', reject);
      });
      request.on('error', reject);
    });
  } finally {
    clearInterval(watch);
  }
  const seconds = (performance.now() - began) / 1000;
  const cpu = Math.max(0.01, cpuSeconds(pid) - cpuBefore);
  most = Math.max(most, ownMb(pid));
  return {
    rows: lines - (url.includes('format=csv') ? 1 : 0),
    seconds: round(seconds, 1),
    rowsPerSecond: round(lines / seconds),
    rowsPerCpuSecond: round(lines / cpu),
    mbPerSecond: round(bytes / seconds / 1e6, 1),
    beforeMb: round(before),
    moreMb: round(most - before),
  };
}
