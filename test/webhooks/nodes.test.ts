import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createApplication } from '../../src/accounts/applications.ts';
import { openDirectory } from '../../src/accounts/directory.ts';
import { planExperiment } from '../../src/accounts/experiments.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { exampleFigures } from '../../src/contract/shapes/experiment-figures.ts';
import type { VerdictKind } from '../../src/contract/verdicts.ts';
import { finishDue } from '../../src/management/finish-experiments.ts';
import type { ReportPool } from '../../src/reports/report-pool.ts';
import { leaseMs } from '../../src/webhooks/claims.ts';
import { Deliverer, type Send } from '../../src/webhooks/deliverer.ts';
import type { Findings } from '../../src/webhooks/findings.ts';
import { announcer } from '../../src/webhooks/queue.ts';
import { Watch } from '../../src/webhooks/watch.ts';
import { createWebhook } from '../../src/webhooks/webhooks.ts';
import { testClock } from '../accounts/fixture.ts';
import { newDatabase, openNode, sharedServer, testLog } from '../accounts/store/postgres-fixture.ts';
import { needing } from '../support/needing.ts';
import { nothingFound } from './nothing-found.ts';

const dayMs = 86_400_000;

const delivered = { status: 204, error: null, retryAfterMs: 0 } as const;

/**
 * Opens nodes that share a PostgreSQL database.
 * @param sends the function with which each node sends deliveries
 */
async function openNodes(sends: readonly Send[]) {
  const url = await newDatabase(await sharedServer());
  const clock = testClock();
  const nodes = sends.map((send) => {
    const { accountStore } = openNode(url);
    const directory = openDirectory(accountStore, { clock, randomBytes, announce: announcer(randomBytes) });
    return { accountStore, directory, deliverer: new Deliverer({ accountStore, directory, log: testLog(), send }) };
  });
  const [{ directory }] = nodes as [(typeof nodes)[0]];
  const team = await createTeam(directory, 'Team');
  const settings = { name: 'Hook', url: 'https://hooks.example.com/', events: ['member.changed'] } as const;
  await createWebhook(directory, team.id, settings, { allowPrivate: false });
  const person = (name: string) =>
    createUser(directory, { email: `${name}@example.com`, name, role: 'User', teams: [team.id], passwordHash: 'none' });
  /** Waits until each node has read the writes of all other nodes. */
  const current = () => Promise.all(nodes.map(({ accountStore }) => accountStore.current()));
  return { nodes, clock, person, current };
}

const { describe, test } = needing('postgresql');

describe('several nodes', () => {
  test('an event is delivered only once even if all nodes try to claim it', async () => {
    const sent: string[] = [];
    const send: Send = async (_webhook, { id }) => {
      sent.push(id);
      return delivered;
    };
    const { nodes, person, current } = await openNodes([send, send, send]);
    for (let count = 0; count < 5; count += 1) await person(`person-${count}`);
    for (let round = 0; round < 3; round += 1) {
      await current();
      await Promise.all(nodes.map(({ deliverer }) => deliverer.look()));
      await Promise.all(nodes.map(({ deliverer }) => deliverer.settled()));
    }
    await current();
    expect(nodes.map(({ deliverer }) => deliverer.waiting)).toEqual([0, 0, 0]);
    expect(sent).toHaveLength(5);
    expect(new Set(sent).size).toBe(5);
  });

  test('an event that one node has claimed is delivered by another node only if the claiming node dies', async () => {
    const sent: string[] = [];
    const { nodes, person, current, clock } = await openNodes([
      () => new Promise(() => {}),
      async (_webhook, { id }) => {
        sent.push(id);
        return delivered;
      },
    ]);
    await person('ada');
    await current();
    await nodes[0]!.deliverer.look();
    await current();
    const other = nodes[1]!.deliverer;
    for (const [advance, wanted] of [
      [0, 0],
      [leaseMs - 1, 0],
      [1, 1],
      [leaseMs, 1],
    ] as const) {
      clock.advance(advance);
      await other.look();
      await other.settled();
      expect(sent).toHaveLength(wanted);
    }
  });

  test('a changed verdict is announced only once even if all nodes find it', async () => {
    const { nodes, current, clock } = await openNodes([async () => delivered, async () => delivered]);
    const [{ directory, accountStore }] = nodes as [(typeof nodes)[0]];
    const team = [...directory.teams.values()][0]!;
    await createApplication(directory, { name: 'Shop', teamId: team.id });
    const events = ['flag.verdict_changed'] as const;
    const settings = { name: 'Verdicts', url: 'https://hooks.example.com/', events };
    const { webhook } = await createWebhook(directory, team.id, settings, { allowPrivate: false });
    await current();
    let kind: VerdictKind = 'in_use';
    const find = async (): Promise<Findings> => {
      const nowhere = { since: null, environments: [], lastSeenAt: null, declaredAt: null, reasons: [] };
      return { firstSeen: [], stale: [], refused: [], verdicts: [{ feature: 'old', kind, ...nowhere }] };
    };
    const newWatch = ({ accountStore, directory }: (typeof nodes)[0]) =>
      new Watch({
        accountStore,
        directory,
        find,
        log: testLog(),
        staleAfterMs: 1000,
        findForDigest: async () => nothingFound,
        completeThrough: async () => undefined,
        refusals: () => new Map(),
        pause: async () => true,
      });
    const watches = nodes.map(newWatch);
    const round = async () => {
      await Promise.all(watches.map((watch) => watch.round()));
      await current();
      const queued = [...accountStore.records('webhookTurns').keys()];
      return queued
        .map((key) => accountStore.get('webhookDeliveries', key)!)
        .filter(({ webhookId }) => webhookId === webhook.id)
        .map(({ body }) => JSON.parse(body).data.verdict);
    };
    expect(await round()).toEqual([]);
    clock.advance(120_000);
    kind = 'cannot_tell';
    expect(await round()).toEqual(['cannot_tell']);
    expect(await round()).toEqual(['cannot_tell']);
  });

  test('the result of a finished experiment is frozen and announced only once by several nodes', async () => {
    const { nodes, current, clock } = await openNodes([async () => delivered, async () => delivered]);
    const [{ directory, accountStore }] = nodes as [(typeof nodes)[0]];
    const team = [...directory.teams.values()][0]!;
    const { id, environments } = await createApplication(directory, { name: 'Shop', teamId: team.id });
    const settings = { url: 'https://hooks.example.com/', events: ['experiment.finished'] } as const;
    await createWebhook(directory, team.id, { name: 'Results', ...settings }, { allowPrivate: false });
    await planExperiment(directory, id, 'checkout', {
      name: 'One page',
      hypothesis: null,
      environment: environments[0]!.number,
      base: 'off',
      split: null,
      startAt: clock.now() - 9 * dayMs,
      endAt: null,
      users: 100,
      metric: 'used',
      direction: 'up',
      guardrails: [],
    });
    await current();
    let isMet = false;
    const result = { ...exampleFigures, state: 'running', frozen: false, daily: [] } as const;
    const make = (async () => ({ isMet, result, users: 0 })) as unknown as ReportPool['make'];
    const round = async () => {
      const finished = await Promise.all(
        nodes.map(({ directory }) =>
          finishDue({ directory, reports: { make }, completeThrough: async () => undefined }),
        ),
      );
      await current();
      return finished.reduce((all, each) => all + each, 0);
    };
    expect(await round()).toBe(0);
    isMet = true;
    expect(await round()).toBe(1);
    expect(await round()).toBe(0);
    const [experiment] = directory.getFeatures(id).get('checkout')!.experiments!;
    expect(experiment!.result!.figures.outcome).toBe('better');
    const bodies = [...accountStore.records('webhookTurns').keys()].map((key) =>
      JSON.parse(accountStore.get('webhookDeliveries', key)!.body),
    );
    expect(bodies.filter(({ type }) => type === 'experiment.finished')).toHaveLength(1);
  });
});
