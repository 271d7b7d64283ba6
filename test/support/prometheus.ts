import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freshDirectory } from './binary.ts';
import { freePort } from './postgres-program.ts';
import { rulesPath } from './promtool.ts';

interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface RuleState {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

/**
 * A Prometheus server with the published rules, changed to fire without delay. Tests with promtool check the delays.
 */
export class Prometheus {
  readonly #url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.#url = url;
    this.#process = process;
  }

  /** @param targets HOST:PORT of each service's metrics */
  static async start(targets: readonly string[]): Promise<Prometheus> {
    const folder = freshDirectory();
    const address = `127.0.0.1:${await freePort()}`;
    const rules = readFileSync(rulesPath, 'utf8').replaceAll(/^( +for:) .*$/gm, '$1 0s');
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'flagmeter', static_configs: [{ targets }] }],
    };
    writeFileSync(join(folder, 'rules.yml'), rules);
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is valid YAML.
    const own = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`];
    const child = spawn('prometheus', own, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const started = new Prometheus(`http://${address}`, child);
    for (let ready = false; !ready; await pause(100)) {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${said}`);
      ready = await fetch(`${started.#url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    }
    return started;
  }

  /** Returns the current results of an expression. @throws {Error} if Prometheus rejects it */
  async query(expression: string): Promise<readonly Result[]> {
    const { result } = (await this.#get(`query?${new URLSearchParams({ query: expression })}`)) as { result: Result[] };
    return result;
  }

  async rules(): Promise<readonly RuleState[]> {
    const { groups } = (await this.#get('rules')) as { groups: { rules: RuleState[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  /** Returns the names of the firing alerts. */
  async firing(): Promise<readonly string[]> {
    return (await this.rules()).filter(({ state }) => state === 'firing').map(({ name }) => name);
  }

  /** Returns the names of the alerts that fire for one target, or for all targets together. @param target HOST:PORT */
  async firingAt(target: string): Promise<readonly string[]> {
    const { alerts } = (await this.#get('alerts')) as { alerts: Alert[] };
    return alerts
      .filter(({ state, labels }) => state === 'firing' && (labels['instance'] ?? target) === target)
      .map(({ labels }) => labels['alertname']!);
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await ended;
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: unknown; error?: string };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  }
}
