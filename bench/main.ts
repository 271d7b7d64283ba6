import { closest } from 'fastest-levenshtein';
import { backup } from './backup.ts';
import type { Benchmark } from './benchmark.ts';
import { clicks } from './clicks.ts';
import { cluster } from './cluster.ts';
import { coexist } from './coexist.ts';
import { compare } from './compare.ts';
import { exportRows } from './export.ts';
import { grpc } from './grpc.ts';
import { hostileGrpc } from './hostile-grpc.ts';
import { hostileHttp } from './hostile-http.ts';
import { hostileReports } from './hostile-reports.ts';
import { importRows } from './import.ts';
import { ingest } from './ingest.ts';
import { invalidation } from './invalidation.ts';
import { journal } from './journal.ts';
import { memory } from './memory.ts';
import { micro } from './micro.ts';
import { mint } from './mint.ts';
import { model } from './model.ts';
import { noisyNeighbour } from './noisy-neighbour.ts';
import { onePort } from './one-port.ts';
import { otlp } from './otlp.ts';
import { overload } from './overload.ts';
import { pages } from './pages.ts';
import { peers } from './peers.ts';
import { producers } from './producers.ts';
import { report } from './report.ts';
import { retention } from './retention.ts';
import { scrape } from './scrape.ts';
import { start } from './start.ts';
import { steps } from './steps.ts';
import { switchOver } from './switch-over.ts';
import { threads } from './threads.ts';
import { token, verify } from './tokens.ts';
import { unleash } from './unleash.ts';
import { watchers } from './watchers.ts';
import { wear } from './wear.ts';

const benchmarks: ReadonlyMap<string, Benchmark> = new Map([
  ['compare', compare],
  ['ingest', ingest],
  ['unleash', unleash],
  ['switch-over', switchOver],
  ['grpc', grpc],
  ['otlp', otlp],
  ['one-port', onePort],
  ['hostile-grpc', hostileGrpc],
  ['coexist', coexist],
  ['overload', overload],
  ['noisy-neighbour', noisyNeighbour],
  ['start', start],
  ['mint', mint],
  ['token', token],
  ['verify', verify],
  ['memory', memory],
  ['hostile-http', hostileHttp],
  ['hostile-reports', hostileReports],
  ['invalidation', invalidation],
  ['retention', retention],
  ['backup', backup],
  ['report', report],
  ['pages', pages],
  ['clicks', clicks],
  ['export', exportRows],
  ['import', importRows],
  ['scrape', scrape],
  ['watchers', watchers],
  ['cluster', cluster],
  ['journal', journal],
  ['producers', producers],
  ['wear', wear],
  ['micro', micro],
  ['steps', steps],
  ['threads', threads],
  ['model', model],
  ['peers', peers],
]);

const wrongUsage = 2;

/** Runs the benchmark that the first argument names, with the other arguments. Sets the exit code of the process. */
export async function main([name = 'help', ...args]: string[]): Promise<void> {
  if (name === 'help' || name === '--help') {
    process.stdout.write(help());
    return;
  }
  const benchmark = benchmarks.get(name);
  if (benchmark === undefined) {
    const nearest = closest(name, [...benchmarks.keys()]);
    return fail(`unknown benchmark '${name}'; did you mean '${nearest}'?`, wrongUsage);
  }
  try {
    await benchmark.run(args);
  } catch (error) {
    const usage = error instanceof TypeError && error.message.startsWith('Option');
    const wrong = usage || String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
    fail((error as Error).message, wrong ? wrongUsage : 1);
  }
}

function help(): string {
  const lines = [...benchmarks].map(
    ([name, { summary, usage }]) => `  ${name.padEnd(17)}${summary}\n                   ${usage}\n`,
  );
  return `npm run bench -- NAME [options]\n\n${lines.join('')}`;
}

function fail(message: string, code: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

if (import.meta.main) {
  // Exiting stops the servers and removes their data.
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  await main(process.argv.slice(2));
}
