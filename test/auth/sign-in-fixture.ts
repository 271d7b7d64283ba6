import { createHash, randomBytes } from 'node:crypto';
import { createClient } from '../../src/accounts/clients.ts';
import { openDirectory } from '../../src/accounts/directory.ts';
import { temporary } from '../../src/accounts/passwords.ts';
import { prepareStore } from '../../src/accounts/prepare.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { type TestClock, testClock, testHealth } from '../accounts/fixture.ts';
import { freshDirectory, manage, token } from '../support/binary.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { type LocalOptions, type LocalService, startLocal } from '../support/service.ts';
import { encode, type Page, type Parameters, TestBrowser } from './test-browser.ts';

/** A verifier and its challenge (RFC 7636, appendix B). */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = createHash('sha256').update(verifier).digest('base64url');

export const redirectUris = {
  web: 'https://shop.example.com/callback?from=flagmeter',
  loopback: 'http://127.0.0.1/callback',
  app: 'com.example.shop:/callback',
} as const;

export interface Person {
  readonly email: string;
  readonly password: string;
}

export interface SignInFixture {
  readonly service: LocalService;
  readonly clock: TestClock;
  /** The id of a public client of the first team. */
  readonly clientId: string;
  /** The Admin of the first team. */
  readonly admin: Person;
  /** A user of another team. */
  readonly outsider: Person;
  /** A user of the other team with a temporary password. */
  readonly newcomer: Person;
  /** The URL of an authorization request with the usual and the given parameters; `undefined` omits a parameter. */
  target(parameters?: Parameters): string;
  newBrowser(address?: string): TestBrowser;
  /** Opens the page of a request, and submits the person's credentials. */
  signIn(browser: TestBrowser, parameters?: Parameters, person?: Person): Promise<Page>;
  /** The audit log, latest first. */
  audit(): Promise<readonly AuditLine[]>;
  /** Changes the Admin's password. */
  changePassword(password: string): Promise<void>;
  /** Stops the service and starts it again on the same data. */
  restart(): Promise<SignInFixture>;
}

export interface AuditLine {
  readonly action: string;
  readonly actor: { readonly type: string; readonly name: string; readonly address: string };
  readonly target: { readonly id: string; readonly name: string };
  readonly factors?: readonly string[];
}

/** Starts a service with two teams and a client. */
export async function openSignIn(options: LocalOptions = {}): Promise<SignInFixture> {
  const clock = testClock();
  const data = `${freshDirectory()}/data`;
  const prepared = await prepareData(data, clock);
  const service = await startLocal({ clock, data, ...prepared, ...options });
  return createFixture({ service, clock, ...prepared }, options);
}

async function prepareData(data: string, clock: TestClock) {
  const store = openAccountTables(data);
  const admin = { email: 'Ada@Example.com', password: 'the analytical engine' };
  const outsider = { email: 'outsider@example.com', password: 'correct horse battery' };
  const wanted = { adminEmail: admin.email, adminPassword: admin.password, clock, randomBytes, hash: cheapHash };
  const credentials = await prepareStore(store, wanted);
  const directory = openDirectory(new EmbeddedAccountStore(store, testHealth()), { clock, randomBytes });
  const { id } = await createTeam(directory, 'Others');
  const passwordHash = await cheapHash(outsider.password, randomBytes);
  await createUser(directory, { email: outsider.email, name: 'S', role: 'User', teams: [id], passwordHash });
  const newcomer = { email: 'newcomer@example.com', password: 'temporary words' };
  const newcomers = await cheapHash(newcomer.password, randomBytes);
  const wantedNewcomer = { email: newcomer.email, name: 'N', role: 'User', teams: [id] } as const;
  await createUser(directory, { ...wantedNewcomer, passwordHash: newcomers, ...temporary(newcomers) });
  const { teamId } = credentials;
  const shop = { teamId, name: 'Shop & Co', redirectUris: Object.values(redirectUris), confidential: false };
  const { clientId } = (await createClient(directory, shop)).client;
  await store.lmdb.close();
  return { credentials, clientId, admin, outsider, newcomer };
}

type Base = Pick<SignInFixture, 'service' | 'clock' | 'clientId' | 'admin' | 'outsider' | 'newcomer'>;

function createFixture(base: Base, options: LocalOptions): SignInFixture {
  const { service, clock, clientId, admin } = base;
  const { http, data, credentials } = service;
  const usual: Parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUris.web,
    scope: 'openid email flagmeter',
    state: 'st&te=1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  const target = (parameters: Parameters = {}) => `/connect/authorize?${encode({ ...usual, ...parameters })}`;
  return {
    ...base,
    target,
    newBrowser: (address = '127.0.0.1') => new TestBrowser(http, address),
    async signIn(browser, parameters, person = admin) {
      await browser.open(target(parameters));
      return browser.submit({ ...person });
    },
    async audit() {
      const access = await token(http, credentials);
      return ((await manage(http, access, 'GET', '/api/v2/audit?limit=200', 200)) as { items: AuditLine[] }).items;
    },
    async changePassword(password) {
      const access = await token(http, credentials);
      const { items } = (await manage(http, access, 'GET', '/api/v2/users', 200)) as {
        items: { id: string; email: string }[];
      };
      const { id } = items.find(({ email }) => email === admin.email)!;
      const { url } = (await manage(http, access, 'POST', `/api/v2/users/${id}/reset-link`, 200, {})) as {
        url: string;
      };
      const browser = new TestBrowser(http, '127.0.9.9');
      await browser.open('/connect/invitation');
      await browser.submit({ action: 'accept', token: url, password, again: password });
    },
    async restart() {
      await service.stop();
      return createFixture({ ...base, service: await startLocal({ ...options, clock, data, credentials }) }, options);
    },
  };
}
