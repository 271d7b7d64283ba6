import type { Webhook } from '../storage/lmdb/webhook-records.ts';

/** Maximum number of concurrent attempts, so that hanging targets delay only themselves. */
const most = { all: 64, failing: 24, team: 8, failingOfTeam: 4, webhook: 4, failingWebhook: 1 };

/** Maximum number of concurrent attempts per webhook. */
export const mostPerWebhook = most.webhook;

/** The concurrency slots in use, counted by target. */
export class Slots {
  #all = 0;
  #failing = 0;
  readonly #teams = new Map<string, number>();
  readonly #failingOfTeams = new Map<string, number>();
  readonly #webhooks = new Map<string, number>();

  /**
   * Takes a slot for one attempt.
   * @returns a function that frees it; `undefined` if no slot is free
   */
  take({
    id,
    teamId,
    failingSince,
  }: Pick<Webhook, 'id' | 'teamId' | 'failingSince'>): (() => void) | undefined {
    const isFailing = failingSince !== null;
    const own = this.#webhooks.get(id) ?? 0;
    if (this.#all >= most.all || (this.#teams.get(teamId) ?? 0) >= most.team) return undefined;
    if (own >= (isFailing ? most.failingWebhook : most.webhook)) return undefined;
    if (isFailing && this.#failing >= most.failing) return undefined;
    if (isFailing && (this.#failingOfTeams.get(teamId) ?? 0) >= most.failingOfTeam) return undefined;
    const add = (by: number) => {
      this.#all += by;
      if (isFailing) this.#failing += by;
      if (isFailing) addTo(this.#failingOfTeams, teamId, by);
      addTo(this.#teams, teamId, by);
      addTo(this.#webhooks, id, by);
    };
    add(1);
    return () => add(-1);
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
