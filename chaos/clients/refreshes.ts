import { createHash, randomBytes } from 'node:crypto';
import { TestBrowser } from '../../test/auth/test-browser.ts';
import type { Dice } from '../dice.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import { balanced } from '../scene/balancer.ts';
import { hub } from '../scene/network.ts';
import type { ServiceResponse } from './ask.ts';
import { madeTwice } from './changes.ts';

export const redirectUri = 'https://shop.example/callback';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Signs in, and sends each refresh token to two nodes at the same time. */
export async function raceRefreshes(round: Round, dice: Dice, clientId: string): Promise<void> {
  while (!round.isOver) {
    const tokens = await signIn(round, dice, clientId).catch(() => undefined);
    if (tokens !== undefined) await race(round, dice, clientId, tokens);
    await pause(dice.between(100, 500));
  }
}

async function race(round: Round, dice: Dice, clientId: string, tokens: Tokens): Promise<void> {
  const present = () => refresh(round, round.node(dice).http, clientId, tokens.refresh_token);
  const responses = await Promise.all([present(), present()]);
  if (responses.every(({ status }) => status === 400)) madeTwice(round, 'a fresh refresh token is used');
  if (dice.chance(0.5)) responses.push(await present());
  const successes = responses.filter(({ status }) => status === 200);
  if (successes.length > 1 && !round.isLossy)
    round.journal.violation(`a refresh token was used successfully ${successes.length} times`);
  if (successes.length > 0 && !round.isLossy)
    round.invalidated.push({ token: tokens.access_token, how: 'replaced by a refresh' });
}

function refresh(round: Round, http: string, clientId: string, token: string): Promise<ServiceResponse> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token });
  return round.ask(http, { kind: 'refresh', method: 'POST', path: '/connect/token', body });
}

/**
 * Signs the administrator in.
 * @returns `undefined` if signing in is temporarily impossible
 * @throws {Error} if the browser fails
 */
async function signIn(round: Round, dice: Dice, clientId: string): Promise<Tokens | undefined> {
  const verifier = randomBytes(32).toString('base64url');
  const code = await authorize(round, clientId, createHash('sha256').update(verifier).digest('base64url'));
  if (code === undefined) return undefined;
  const response = await round.ask(round.somewhere(dice), {
    kind: 'code',
    method: 'POST',
    path: '/connect/token',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
    }),
  });
  return response.status === 200 ? (JSON.parse(response.body) as Tokens) : undefined;
}

/** Requests an authorization code. @returns the code in the redirect */
async function authorize(round: Round, clientId: string, challenge: string): Promise<string | undefined> {
  const { adminEmail, adminPassword } = round.tokens.credentials;
  const browser = new TestBrowser(balanced.http, hub);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email flagmeter',
    state: 'chaos',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  await browser.open(`/connect/authorize?${parameters}`);
  const page = await browser.submit({ email: adminEmail, password: adminPassword, action: 'sign-in' });
  const code = page.location?.searchParams.get('code') ?? undefined;
  round.journal.count(`sign-in: ${page.status}`);
  return code;
}
