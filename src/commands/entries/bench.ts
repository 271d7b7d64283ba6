import { command } from '../../cli/command.ts';
import { jsonOption } from '../../cli/common-options.ts';
import { option } from '../../contract/shapes/option.ts';

/** Creates an option for the values of a setting, each of which `bench` measures. */
const sweepOption = (name: string, what: string) =>
  option(`${name} LIST`, `${what} to measure, such as 1,2,4; the first is the base`);

export const bench = command({
  name: 'bench',
  summary: 'Measure what this machine sustains, and recommend settings',
  examples: ['bench --time 600', 'bench --threads 1,2,4 --workers 1,2'],
  options: [
    option('time SECONDS', 'Total time', { more: 'default: 240, or more if the stages need it' }),
    option('data DIR', 'New folder for temporary stores, on the disk to measure', {
      file: true,
      more: 'default: in the current directory; removed afterwards',
    }),
    sweepOption('threads', 'Numbers of front-end threads'),
    sweepOption('workers', 'Numbers of counting threads'),
    sweepOption('batch-packets', 'Maximum packets in a commit'),
    sweepOption('commit-delay', 'Delays of a commit in ms'),
    option('connections LIST', 'Numbers of connections to measure', { more: 'default: 16,64,256' }),
    option('small', 'Measure only the defaults of the server, in short stages'),
    option('url URL', 'Measure a running server instead of a temporary server, with your login or API key', {
      excludes: ['data', 'threads', 'workers', 'batch-packets', 'commit-delay'],
    }),
    option('grpc HOST:PORT', 'gRPC address of the running server, to measure gRPC as well'),
    option('i-own-this-host', 'Allow a --url or --grpc that is not a loopback address'),
    option('report FILE', 'HTML report; an existing file is replaced', {
      file: true,
      more: 'default: flagmeter-bench.html',
    }),
    jsonOption,
  ],
  notes: `
Starts temporary servers on this machine with one setting changed at a time, and drives each with
packets, the base also with reports over gRPC: first as fast as it responds, then in an open loop at
50 % and 80 % of that. An open loop sends at a fixed rate, so latencies include the time that a
packet waited to be sent. The load generator shares the machine. The best settings are measured
again before they are recommended.

With --url, drives a running server in an application that is created and deleted. Only use a server
that may become unavailable. Exit code 1: a usage report differs from the acknowledged packets.
`,
  load: async () => (await import('../../bench/bench.ts')).bench,
});
