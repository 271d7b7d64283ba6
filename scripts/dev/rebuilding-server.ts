import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program and its arguments. */
type CommandLine = readonly [program: string, ...args: string[]];

export interface RebuildingServerOptions {
  readonly cwd: string;
  readonly build: CommandLine;
  readonly serve: CommandLine;
}

/**
 * A server that is built and restarted after each change of its sources. If a build fails, the server keeps running.
 */
export class RebuildingServer {
  readonly #options: RebuildingServerOptions;
  #server: ChildProcess | undefined;
  #changed = false;
  #rebuilding: Promise<void> | undefined;

  constructor(options: RebuildingServerOptions) {
    this.#options = options;
  }

  /** The process id of the server; `undefined` before it was started. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /**
   * Builds and restarts the server. Resolves after the last change was built. A change during a build starts another
   * build.
   */
  rebuild(): Promise<void> {
    this.#changed = true;
    this.#rebuilding ??= this.#rebuild().finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  async #rebuild(): Promise<void> {
    while (this.#changed) {
      this.#changed = false;
      const [code] = await once(this.#start(this.#options.build), 'exit');
      if (code !== 0 || this.#changed) continue;
      await this.stop();
      // Ctrl-C signals a whole process group. A server in this group would get two signals, and stop immediately.
      this.#server = this.#start(this.#options.serve, { detached: true });
    }
  }

  /** Stops the server. Resolves when it has exited. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  }

  #start([program, ...args]: CommandLine, options: Pick<SpawnOptions, 'detached'> = {}): ChildProcess {
    return spawn(program, args, { ...options, cwd: this.#options.cwd, stdio: 'inherit' });
  }
}
