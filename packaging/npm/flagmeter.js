#!/usr/bin/env node
/** Runs the executable of this platform. npm installs it as an optional dependency. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const name = `@flagmeter/${process.platform}-${process.arch}`;

function findExecutable() {
  try {
    return createRequire(import.meta.url).resolve(`${name}/flagmeter`);
  } catch {
    console.error(
      `Cannot run flagmeter: the package ${name} is not installed. It exists for Linux on x64 and arm64, with glibc. Install flagmeter without --omit=optional`,
    );
    return process.exit(1);
  }
}

const child = spawn(findExecutable(), process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// A terminal sends SIGINT to both processes.
process.on('SIGINT', () => {});
child.on('error', (error) => {
  console.error(`Cannot run flagmeter: ${error.message}`);
  process.exitCode = 1;
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exitCode = code;
  else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
