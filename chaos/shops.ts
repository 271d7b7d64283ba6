import type { Tokens } from './clients/tokens.ts';
import type { Shop } from './round.ts';
import { balanced } from './scene/balancer.ts';
import type { Scene } from './scene/scene.ts';

/** As many environments as an application may have, with room for those that it is made with. */
const roundsOfOne = 40;

/** Makes an environment for each round, and an application for some. */
export class Shops {
  readonly #scene: Scene;
  readonly #tokens: Tokens;
  #made = 0;
  #last: Omit<Shop, 'environment'> | undefined;

  constructor(scene: Scene, tokens: Tokens) {
    this.#scene = scene;
    this.#tokens = tokens;
  }

  /** @throws {Error} when a node does not do or show it, though all is well */
  async next(): Promise<Shop> {
    if (this.#made++ % roundsOfOne === 0) this.#last = await this.#openApplication();
    const base = this.#last as Omit<Shop, 'environment'>;
    const environment = `round-${this.#made}`;
    const path = `/api/v2/applications/${base.application}/environments`;
    await this.#make(path, { name: environment });
    // After such a read the node takes packets of the environment, too.
    for (const node of this.#scene.nodes) await this.#tokens.insist(node.http, { kind: 'list read', path });
    return { ...base, environment };
  }

  async #openApplication(): Promise<Omit<Shop, 'environment'>> {
    const { id } = (await this.#make('/api/v2/applications', { name: `shop ${this.#made}` })) as {
      id: string;
    };
    const keyOf = async (type: string) =>
      ((await this.#make(`/api/v2/applications/${id}/keys`, { type })) as { key: string }).key;
    return { application: id, keys: { Frontend: await keyOf('Frontend'), Backend: await keyOf('Backend') } };
  }

  #make(path: string, body: object): Promise<unknown> {
    return this.#tokens.insist(balanced.http, { kind: 'make', method: 'POST', path, body }, 201);
  }
}
