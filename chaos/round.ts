import { ask, type Question, type ServiceResponse } from './clients/ask.ts';
import type { Tokens } from './clients/tokens.ts';
import { Sender, type Total } from './clients/totals.ts';
import type { Dice } from './dice.ts';
import type { Journal } from './journal.ts';
import { balanced } from './scene/balancer.ts';
import type { Scene } from './scene/scene.ts';
import type { ServiceNode } from './scene/service-node.ts';

/** The application of a round, and an environment that no other round uses. */
export interface Shop {
  readonly application: string;
  readonly environment: string;
  readonly keys: { readonly Frontend: string; readonly Backend: string };
}

/** A person for whom an id was minted, and the packets with that id. */
export interface Person {
  readonly identity: string;
  readonly sender: Sender;
}

/** A change of the accounts, and its outcome. */
export interface Change {
  readonly action: 'feature.declared' | 'feature.deleted';
  readonly name: string;
  readonly outcome: ServiceResponse['outcome'];
}

/** A token whose invalidation was acknowledged. */
export interface InvalidatedToken {
  readonly token: string;
  readonly how: string;
}

/** State that the clients of a round share: where to send, what they did, and when to stop. */
export class Round {
  readonly senders: Sender[] = [];
  /**
   * Senders whose node is considered lost. Reports can lack their packets until the node notices the loss. At the end
   * of the round, all of these packets must be counted.
   */
  readonly unwatched = new Set<Sender>();
  readonly people: Person[] = [];
  readonly changes: Change[] = [];
  /** Invalidated tokens of this round and of earlier rounds. */
  readonly invalidated: InvalidatedToken[];

  readonly scene: Scene;
  readonly journal: Journal;
  readonly tokens: Tokens;
  readonly shop: Shop;

  /** True if changes of accounts can be lost, because a fault makes the database lose confirmed commits. */
  isLossy = false;
  isOver = false;
  /** Number of packets and reports by outcome. */
  readonly taken = { accepted: 0, refused: 0, unknown: 0 };

  constructor(
    { scene, journal, tokens, invalidated }: Pick<Round, 'scene' | 'journal' | 'tokens' | 'invalidated'>,
    shop: Shop,
  ) {
    this.scene = scene;
    this.invalidated = invalidated;
    this.journal = journal;
    this.tokens = tokens;
    this.shop = shop;
  }

  /** Creates a sender. Its requests can be identified in the reports of this round. */
  sender(kind: Total['kind'], name: string): Sender {
    const sender = new Sender(kind, name);
    this.senders.push(sender);
    return sender;
  }

  /** The nodes that clients may use. */
  get nodes(): readonly ServiceNode[] {
    return this.scene.nodes.filter((node) => !this.scene.withdrawn.has(node));
  }

  /** Returns the address of the balancer in most cases, otherwise of one of the nodes. */
  somewhere(dice: Dice, host: 'http' | 'metrics' = 'http'): string {
    return dice.chance(0.6) ? balanced.http : this.node(dice)[host];
  }

  node(dice: Dice): ServiceNode {
    return dice.pick(this.nodes);
  }

  async ask(http: string, question: Question): Promise<ServiceResponse> {
    const response = await ask(this.journal, http, question);
    if (/^(packet|report)( of a key)?$/.test(question.kind)) this.taken[response.outcome]++;
    return response;
  }
}
