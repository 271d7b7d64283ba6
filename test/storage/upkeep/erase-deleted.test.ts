import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKey } from '../../../src/accounts/application-keys.ts';
import {
  createApplication,
  createEnvironment,
  deleteApplication,
  deleteEnvironment,
} from '../../../src/accounts/applications.ts';
import { finishDeletion } from '../../../src/accounts/deletions.ts';
import { routesFrom } from '../../../src/http/endpoint.ts';
import { createRouter } from '../../../src/http/router.ts';
import { LargeBodies } from '../../../src/ingest/admission/large-bodies.ts';
import { RateLimits, UnknownSenders } from '../../../src/ingest/admission/rate-limits.ts';
import { mintEndpoints } from '../../../src/ingest/formats/identities/format.ts';
import { Instances } from '../../../src/ingest/formats/identities/instances.ts';
import { addPacket } from '../../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../../src/ingest/formats/telemetry/packet.ts';
import { Ledger } from '../../../src/ingest/ledger/ledger.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import type { Batch } from '../../../src/storage/commit/batch.ts';
import { CommitError } from '../../../src/storage/commit/committer.ts';
import { EmbeddedUsage, type FoldingCommitter } from '../../../src/storage/commit/embedded-usage.ts';
import { Intake } from '../../../src/storage/commit/intake.ts';
import { SeriesDictionary } from '../../../src/storage/commit/series-dictionary.ts';
import type { Application } from '../../../src/storage/lmdb/records.ts';
import { StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { type EraseDeps, eraseDeleted } from '../../../src/storage/upkeep/upkeep.ts';
import { openFixture } from '../../accounts/fixture.ts';
import { createRequest } from '../../auth/fixture.ts';
import { roomyLimits, undelayed } from '../../support/roomy-intake.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { addWhole, dump } from '../../support/whole-batch.ts';

/** The packet path without its checks, and the erasure of deleted data. Uses a real store and only one thread. */
async function open() {
  const fixture = await openFixture();
  const { directory, clock } = fixture;
  const store = openUsageTables(temporaryDirectory());
  let aggregator = createAggregator(store);
  const refused: CommitError[] = [];
  let steps = Number.POSITIVE_INFINITY;
  const waitImmediate = () => new Promise((resolve) => setImmediate(resolve));
  const committer: FoldingCommitter = {
    fold: async () => 0,
    unfolded: { frames: 0, bytes: 0 },
    async commit(envelope) {
      await waitImmediate(); // The result arrives later, like the result of a worker.
      const failure = refused.pop();
      if (failure !== undefined) throw failure;
      aggregator.write(envelope);
    },
    async maintain(step) {
      await waitImmediate();
      return aggregator.maintain(step);
    },
    collect: () => {},
    close: async () => {},
  };
  const log = createLog('error', () => {}, clock);
  const health = new StoreHealth({ log, data: '', clock: { after: () => {} }, fatal: () => {} });
  const intake = new Intake([committer], health, undelayed(clock), { ...roomyLimits, batchPackets: 10 });
  const dictionary = new SeriesDictionary(store, { features: 100, variants: 64, metrics: 100 });
  const usageStore = new EmbeddedUsage({
    store,
    digestSecret: Buffer.alloc(32),
    clock,
    committers: [committer],
    health,
    findLane: (application) => intake.findLane(application),
  });
  const forgotten: number[] = [];
  const deps: EraseDeps = {
    deletions: directory.deletions,
    usageStore,
    settled: (application) => intake.findLane(application).barrier(application),
    forget: ({ environments }) => {
      forgotten.push(...environments);
      for (const environment of environments) dictionary.forget(environment);
    },
    finished: (deletion) => finishDeletion(directory, deletion),
    pause: async () => --steps > 0,
  };
  return {
    ...fixture,
    accounts: fixture.store,
    usage: store,
    usageStore,
    health,
    intake,
    forgotten,
    /** Adds a packet to the open batch, as the telemetry route does. */
    send({ number, environments }: Application, feature = 'checkout') {
      const packet = checkPacket({ k: 'k', e: 'e', f: { [feature]: { on: [1] } }, m: { amount: 2 } });
      return intake.findLane(number).submit(number, (batch) => {
        for (const environment of environments) {
          addPacket(packet, dictionary.of(environment.number), batch, clock.now());
        }
      });
    },
    /** Makes the store refuse the next batch. */
    refuseNext: () => void refused.push(new CommitError('no room', 28)),
    erase: () => eraseDeleted(deps),
    /** Stops after a number of steps, like a process that ends, and starts the next process. */
    async eraseAndStop(after: number) {
      steps = after;
      const over = await eraseDeleted(deps);
      steps = Number.POSITIVE_INFINITY;
      aggregator = createAggregator(store);
      return over;
    },
    /** Omits messages, because a message does not contain its application. */
    left: () => dump(store).filter((record) => !/^(messages|cumulative) /.test(record)),
    close: () => store.lmdb.close(),
  };
}

test('erasing an application removes all of its data, and no data of other applications', async () => {
  const service = await open();
  const { directory, application, team, intake, clock } = service;
  const other = await createApplication(directory, { name: 'Other', teamId: team.id });
  await service.send(other);
  const before = service.left();
  const whole = (batch: Batch) => {
    for (const { number } of application.environments) addWhole(batch, application.number, number, clock.now());
  };
  await intake.findLane(application.number).submit(application.number, whole);
  expect(service.left().length).toBeGreaterThan(before.length);

  await deleteApplication(directory, application.id);
  expect([...directory.deletions.values()]).toMatchObject([{ application: application.number, whole: true }]);
  expect(await service.erase()).toBe(true);
  expect(service.left()).toEqual(before);
  expect([...directory.deletions.keys()]).toEqual([]);
  expect(service.forgotten).toEqual(application.environments.map(({ number }) => number));
  const audit = service.accounts.audit.getRange().map(({ value }) => [value.action, value.target.name]);
  expect([...audit].slice(-2)).toEqual([
    ['application.deleted', 'Shop'],
    ['application.erased', 'Shop'],
  ]);
  await service.close();
});

test('packets in flight do not restore an environment that is being deleted', async () => {
  const service = await open();
  const { directory, application } = service;
  const batches = Array.from({ length: 95 }, (_, at) => service.send(application, `feature ${at}`));
  expect(new Set(batches).size).toBe(10);
  await deleteApplication(directory, application.id);
  expect(await service.erase()).toBe(true);
  await Promise.all(batches);
  expect(service.left()).toEqual([]);
  await service.close();
});

test('a ledger row that is added after the erasure has waited for packets in flight is erased, too', async () => {
  const service = await open();
  const { directory, application, intake } = service;
  const { number } = application;
  const row = {
    application: number,
    hour: 490_000,
    subject: '[null,"http","identities","accepted",200,null,null,null]',
  };
  const mint = async () => {
    await service.send(application);
    for (let awaits = 0; awaits < 20; awaits += 1) await undefined;
    intake.findLane(number).ledger.add(row, 0);
  };
  const minting = mint();
  await deleteApplication(directory, application.id);
  await service.erase();
  await minting;
  intake.flushLedger();
  await intake.close();
  expect(service.left()).toEqual([]);
  await service.close();
});

test('names in a refused batch of a deleted application are not stored with a later batch', async () => {
  const service = await open();
  const { directory, application, team } = service;
  const other = await createApplication(directory, { name: 'Other', teamId: team.id });
  service.refuseNext();
  await expect(service.send(application)).rejects.toThrow();
  await deleteApplication(directory, application.id);
  await service.erase();
  expect(service.left()).toEqual([]);
  await service.send({ ...other, environments: [] });
  expect(service.left()).toEqual([]);
  await service.close();
});

test('a mint request whose body arrives after the deletion of its application creates no id', async () => {
  const service = await open();
  const { directory, application, clock, health, intake, usage, usageStore } = service;
  const { text } = await createKey(directory, application.id, { type: 'Backend' });
  const findLane = (number: number) => intake.findLane(number);
  const life = { ttlMs: 1000, graceMs: 0 };
  const dispatch = createRouter(
    routesFrom([mintEndpoints(1000)], {
      keys: directory,
      clock,
      health,
      usage: usageStore,
      monitor: intake.monitor,
      collect: () => intake.collect(),
      bodies: new LargeBodies(1e9),
      rates: new RateLimits(0, 0),
      unknown: new UnknownSenders(0),
      instances: new Instances({ usage: usageStore, randomBytes, ...life }),
      ledger: new Ledger({ store: usage, clock, findLane }),
      maxBody: 1000,
    }),
  );
  const headers = { authorization: text, 'content-type': 'application/json' };
  const mint = (body: Promise<Uint8Array>) =>
    dispatch({ ...createRequest('/api/frontend/identities', { method: 'POST', headers }), body: () => body });
  const body = Buffer.from('{"identity":"ann"}');
  expect(await mint(Promise.resolve(body))).toMatchObject({ status: 200 });
  let arrive = (_: Uint8Array) => {};
  const late = mint(new Promise((resolve) => (arrive = resolve)));
  await deleteApplication(directory, application.id);
  await service.erase();
  arrive(body);
  expect(await late).toMatchObject({ status: 401 });
  await intake.close();
  expect(service.left()).toEqual([]);
  await service.close();
});

test('the deletion of an application waits while the store refuses writes', async () => {
  const service = await open();
  const { directory, application } = service;
  await service.send(application);
  await deleteApplication(directory, application.id);
  service.refuseNext();
  await expect(service.erase()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(directory.deletions.size).toBe(1);
  await service.erase();
  expect(service.left()).toEqual([]);
  await service.close();
});

test('an interrupted deletion continues, and ends when no data is left', async () => {
  const service = await open();
  const { directory, application, intake, clock } = service;
  for (const { number } of application.environments) {
    const whole = (batch: Batch) => addWhole(batch, application.number, number, clock.now());
    await intake.findLane(application.number).submit(application.number, whole);
  }
  await deleteApplication(directory, application.id);
  const sizes = [service.left().length];
  while (!(await service.eraseAndStop(1))) {
    expect(directory.deletions.size).toBe(1);
    sizes.push(service.left().length);
    expect(sizes.at(-1)).toBeLessThan(sizes.at(-2)!);
  }
  expect(sizes.length).toBeGreaterThan(2);
  expect(service.left()).toEqual([]);
  expect(directory.deletions.size).toBe(0);
  await service.close();
});

test('an environment that is recreated under the same name has only its new data', async () => {
  const service = await open();
  const { directory, application } = service;
  await service.send(application, 'old');
  await deleteEnvironment(directory, application.id, 'Staging');
  await createEnvironment(directory, application.id, 'Staging');
  const again = directory.applications.get(application.id)!;
  await service.send({ ...again, environments: again.environments.slice(-1) }, 'new');
  await service.erase();
  const names = service.left().filter((record) => record.startsWith('series'));
  const shown = names.map((record) => {
    const [, key = '', value = ''] = record.split(' ');
    return [Number.parseInt(key.slice(0, 8), 16), JSON.parse(Buffer.from(value, 'hex').toString())[0]];
  });
  const [production, , development] = application.environments;
  const features = shown.filter(([, name]) => name !== 'amount');
  expect(features).toEqual([
    [production!.number, 'old'],
    [development!.number, 'old'],
    [again.environments.at(-1)!.number, 'new'],
  ]);
  await service.close();
});
