import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Credentials, freshDirectory, prepare } from '../../test/support/binary.ts';
import { givenPassword } from '../../test/support/given-password.ts';
import type { Journal } from '../journal.ts';
import { runCommand } from '../run-command.ts';
import { Balancer, balanced } from './balancer.ts';
import { Database, port } from './database.ts';
import { Link } from './link.ts';
import { getAddress, hub, Network, type Place } from './network.ts';
import { ServiceNode } from './service-node.ts';
import { buildClock } from './skewed-clock.ts';

export interface SceneOptions {
  /** Folder for logs, data directories and configuration. */
  readonly folder: string;
  readonly binary: string;
  /** True for a scene with one node and without PostgreSQL. */
  readonly isAlone: boolean;
  readonly journal: Journal;
}

/** The ports of the slow link, through which the last node reaches the two PostgreSQL servers. */
const linkPorts = [6431, 6432] as const;

/** Name of the node behind the slow link. */
const linked = 'node3';

/** Number of front-end threads by node. A node without PostgreSQL has three. */
const threads: Readonly<Record<string, string>> = { node2: '0', node3: '1' };

const limits = [
  '--rate',
  '0',
  '--api-rate',
  '0',
  '--token-rate',
  '0',
  '--max-features',
  '10000',
  '--max-variants',
  '1000',
];

type SceneServices = Pick<
  Scene,
  'network' | 'database' | 'nodes' | 'links' | 'balancer' | 'credentials' | 'options' | 'twin'
>;

/** The network, the database, the nodes and the balancer of a run. */
export class Scene {
  readonly network: Network;
  readonly database: Database | undefined;
  readonly nodes: readonly ServiceNode[];
  readonly links: readonly Link[];
  readonly balancer: Balancer;
  readonly credentials: Credentials;
  readonly options: SceneOptions;
  /** A second process that uses the directory of another node. It runs only during a fault. */
  readonly twin: ServiceNode;
  /** Nodes that clients must not use, because packets to them would be lost with their disk. */
  readonly withdrawn = new Set<ServiceNode>();

  private constructor(parts: SceneServices) {
    this.network = parts.network;
    this.database = parts.database;
    this.nodes = parts.nodes;
    this.links = parts.links;
    this.balancer = parts.balancer;
    this.credentials = parts.credentials;
    this.options = parts.options;
    this.twin = parts.twin;
  }

  static async open(options: SceneOptions): Promise<Scene> {
    const network = await Network.lay();
    const clockLibrary = await buildClock(options.folder);
    const database = options.isAlone ? undefined : await Database.start(options, clockLibrary);
    const links = database === undefined ? [] : await openLinks();
    const place = (name: Place) =>
      new ServiceNode(name, { ...options, clockLibrary, args: listArguments(name, database) });
    const nodes = (['node1', 'node2', 'node3'] as const).slice(0, options.isAlone ? 1 : 3).map(place);
    for (const { data } of nodes) mkdirSync(join(data, '..'), { recursive: true });
    const credentials = await firstCredentials(options, nodes, database);
    for (const node of nodes) await node.start();
    const balancer = Balancer.start(options.folder, nodes);
    const twin = place('twin');
    return new Scene({ network, database, nodes, links, balancer, credentials, options, twin });
  }

  /** Ends all faults. After that, the network and the database work, and every node runs with the correct time. */
  async makeWell(): Promise<void> {
    await this.joinAll();
    await this.database?.makeWell();
    for (const node of this.nodes) {
      node.clock.aheadMs = 0;
      node.thaw();
      if (!node.isRunning) await node.start();
      await this.readmit(node);
    }
  }

  /** Reconnects all members of the network. */
  async joinAll(): Promise<void> {
    await this.network.joinAll();
    for (const link of this.links) {
      link.delayMs = 0;
      link.isSilent = false;
    }
  }

  /** Cuts a node off from a PostgreSQL server. For the last node, makes the slow link silent. */
  async cutFromServer(node: ServiceNode, server: string): Promise<void> {
    const link = this.#findLink(node, server);
    if (link !== undefined) link.isSilent = true;
    else await this.network.cut(node.address, server);
  }

  async joinToServer(node: ServiceNode, server: string): Promise<void> {
    const link = this.#findLink(node, server);
    if (link !== undefined) link.isSilent = false;
    else await this.network.join(node.address, server);
  }

  #findLink({ name }: ServiceNode, server: string): Link | undefined {
    return name === linked ? this.links.find(({ host }) => host === server) : undefined;
  }

  /** Stops sending new requests to a node. */
  async withdraw(node: ServiceNode): Promise<void> {
    this.withdrawn.add(node);
    await this.balancer.withdraw(node);
  }

  async readmit(node: ServiceNode): Promise<void> {
    if (this.withdrawn.delete(node)) await this.balancer.admit(node);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('SIGKILL')));
    this.balancer.close();
    for (const link of this.links) link.close();
    await this.database?.close();
  }
}

function openLinks(): Promise<Link[]> {
  const targets = [getAddress('postgres1'), getAddress('postgres2')];
  return Promise.all(targets.map((host, index) => Link.open(linkPorts[index] as number, { host, port })));
}

function listArguments(name: string, database: Database | undefined): string[] {
  const url = `http://${balanced.http}`;
  const urls = ['--auth-url', url, '--base-url', url, '--metrics-url', url];
  return [...limits, ...urls, '--threads', threads[name] ?? '3', ...postgresArgs(name, database)];
}

/** Returns the arguments that connect a node to its database. */
function postgresArgs(name: string, database: Database | undefined): string[] {
  if (database === undefined) return [];
  const hosts = name === linked ? linkPorts.map((each) => `${hub}:${each}`) : database.hosts;
  return ['--postgres', database.url(hosts), '--node-name', name];
}

async function firstCredentials(
  { binary }: SceneOptions,
  [first]: readonly ServiceNode[],
  database: Database | undefined,
): Promise<Credentials> {
  if (database === undefined) return prepare((first as ServiceNode).data, binary);
  const args = [
    'postgres',
    'init',
    '--postgres',
    database.url(database.hosts),
    '--admin-email',
    'chaos@localhost',
    '--without-key-file',
    '--json',
    ...givenPassword(freshDirectory()),
  ];
  return JSON.parse(await runCommand(binary, args)) as Credentials;
}
