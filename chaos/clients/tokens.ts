import type { Credentials } from '../../test/support/binary.ts';
import { patienceMs } from '../../test/support/patience.ts';
import type { Journal } from '../journal.ts';
import { ask, type Question, type ServiceResponse } from './ask.ts';

/** Tokens of the first API key. */
export class Tokens {
  readonly #journal: Journal;
  readonly #credentials: Credentials;
  #kept: string | undefined;

  constructor(journal: Journal, credentials: Credentials) {
    this.#journal = journal;
    this.#credentials = credentials;
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** Requests a new token. @returns `undefined` if no token can be issued temporarily */
  async fresh(http: string): Promise<string | undefined> {
    const { clientId, clientSecret } = this.#credentials;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: 'openid flagmeter',
    });
    const response = await ask(this.#journal, http, { kind: 'token', method: 'POST', path: '/connect/token', body });
    return response.status === 200 ? (JSON.parse(response.body) as { access_token: string }).access_token : undefined;
  }

  /** Sends a request with a token. Reuses the token as long as the service accepts it. */
  async ask(http: string, question: Question): Promise<ServiceResponse> {
    this.#kept ??= await this.fresh(http);
    if (this.#kept === undefined) return { outcome: 'refused', status: 503, code: 'no_token', body: '' };
    const headers = { ...question.headers, authorization: `Bearer ${this.#kept}` };
    const response = await ask(this.#journal, http, { ...question, headers });
    if (response.status === 401) this.#kept = undefined;
    return response;
  }

  /** Repeats a request until the response has the expected status. @throws {Error} after two minutes */
  async insist(http: string, question: Question, status = 200): Promise<unknown> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const response = await this.ask(http, { ...question, timeoutMs: 15_000 });
      if (response.status === status) return response.body === '' ? undefined : JSON.parse(response.body);
      if (performance.now() > end)
        throw new Error(
          `${http}${question.path} responded with ${response.status} and not ${status}: ${response.body}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
