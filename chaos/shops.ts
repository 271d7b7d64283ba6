import type { Tokens } from './clients/tokens.ts';
import type { Shop } from './round.ts';
import { balanced } from './scene/balancer.ts';
import type { Scene } from './scene/scene.ts';

/** Number of rounds that share an application. The number of its environments must stay below the limit. */
const roundsOfOne = 40;

/** Creates a new environment for each round, and a new application every few rounds. */
export class Shops {
  readonly #scene: Scene;
  readonly #tokens: Tokens;
  #made = 0;
  #last: Omit<Shop, 'environment'> | undefined;

  constructor(scene: Scene, tokens: Tokens) {
    this.#scene = scene;
    this.#tokens = tokens;
  }

  /** Creates the shop of the next round. @throws {Error} if a node fails to create or show it */
  async next(): Promise<Shop> {
    if (this.#made++ % roundsOfOne === 0) this.#last = await this.#openApplication();
    const base = this.#last as Omit<Shop, 'environment'>;
    const environment = `round-${this.#made}`;
    const path = `/api/v2/applications/${base.application}/environments`;
    await this.#make(path, { name: environment });
    // After this request, the node accepts packets of the environment.
    for (const node of this.#scene.nodes) await this.#tokens.insist(node.http, { kind: 'list read', path });
    return { ...base, environment };
  }

  async #openApplication(): Promise<Omit<Shop, 'environment'>> {
    const { id } = (await this.#make('/api/v2/applications', { name: `shop ${this.#made}` })) as { id: string };
    const issueKey = async (type: string) =>
      ((await this.#make(`/api/v2/applications/${id}/keys`, { type })) as { key: string }).key;
    return { application: id, keys: { Frontend: await issueKey('Frontend'), Backend: await issueKey('Backend') } };
  }

  #make(path: string, body: object): Promise<unknown> {
    return this.#tokens.insist(balanced.http, { kind: 'make', method: 'POST', path, body }, 201);
  }
}
