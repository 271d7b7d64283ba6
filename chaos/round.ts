import { type Answer, ask, type Question } from './clients/ask.ts';
import { Sender, type Tally } from './clients/tallies.ts';
import type { Tokens } from './clients/tokens.ts';
import type { Dice } from './dice.ts';
import type { Journal } from './journal.ts';
import { balanced } from './scene/balancer.ts';
import type { Scene } from './scene/scene.ts';
import type { ServiceNode } from './scene/service-node.ts';

/** The application that a round is about, and its environment, which no other round has. */
export interface Shop {
  readonly application: string;
  readonly environment: string;
  readonly keys: { readonly Frontend: string; readonly Backend: string };
}

/** A person whose id was minted, and the packets that carried it. */
export interface Person {
  readonly identity: string;
  readonly sender: Sender;
}

/** A change of the accounts and what became of it. */
export interface Change {
  readonly action: 'feature.declared' | 'feature.deleted';
  readonly name: string;
  readonly outcome: Answer['outcome'];
}

/** A token that no one may use any more, since its invalidation was answered. */
export interface Invalidated {
  readonly token: string;
  readonly how: string;
}

/** What the clients of a round share: where to send, what they did, and when to stop. */
export class Round {
  readonly senders: Sender[] = [];
  /** Those whose node was given up: reports need not wait for what it takes before it notices. In the end all of that counts. */
  readonly unwatched = new Set<Sender>();
  readonly people: Person[] = [];
  readonly changes: Change[] = [];
  /** Those of earlier rounds, too. */
  readonly invalidated: Invalidated[];

  readonly scene: Scene;
  readonly journal: Journal;
  readonly tokens: Tokens;
  readonly shop: Shop;

  /** While the database loses what it confirmed, changes of accounts may be lost. */
  isLossy = false;
  isOver = false;
  /** Packets and reports that were answered so, each time that one was sent. */
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

  /** A new sender, whose requests can be told in the reports of this round. */
  sender(kind: Tally['kind'], name: string): Sender {
    const sender = new Sender(kind, name);
    this.senders.push(sender);
    return sender;
  }

  /** The nodes that clients may ask. */
  get nodes(): readonly ServiceNode[] {
    return this.scene.nodes.filter((node) => !this.scene.withdrawn.has(node));
  }

  /** The balancer, mostly, or one of the nodes. */
  somewhere(dice: Dice): string {
    return dice.chance(0.6) ? balanced.http : this.node(dice).http;
  }

  node(dice: Dice): ServiceNode {
    return dice.pick(this.nodes);
  }

  async ask(http: string, question: Question): Promise<Answer> {
    const answer = await ask(this.journal, http, question);
    if (/^(packet|report)( of a key)?$/.test(question.kind)) this.taken[answer.outcome]++;
    return answer;
  }
}
