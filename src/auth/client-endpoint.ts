import type { Directory } from '../accounts/directory.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { claimedId } from './client-credentials.ts';
import type { ClientFailures } from './client-failures.ts';
import { type ClientRates, rateKeyOf } from './client-rates.ts';
import { type AuthenticatedClient, authenticateClient } from './clients.ts';
import { type Form, readForm } from './form.ts';
import { OAuthError, oauthErrorReply, uncached } from './oauth-error.ts';

/** What an endpoint for clients needs to know them. */
export interface ClientEndpointDeps {
  readonly directory: Pick<Directory, 'apiKeys' | 'clients'>;
  /** Shared by all such endpoints. */
  readonly failures: ClientFailures;
  readonly rates: ClientRates;
  readonly clock: Clock;
}

/** One request of a client. */
export interface ClientRequest {
  readonly form: Form;
  readonly request: Request;
  /** To be called once. @throws {OAuthError} `invalid_client`, `slow_down` */
  authenticate(): AuthenticatedClient;
}

/**
 * Makes an endpoint that clients post a form to, with their credentials in it or in the header. Its refusals are those
 * of RFC 6749 §5.2; each client has only so many requests, and of failures each address, too.
 * @param answer gives the body of the 200, as JSON, or `undefined` for none; throws `OAuthError`
 */
export function clientEndpoint(
  deps: ClientEndpointDeps,
  path: string,
  answer: (request: ClientRequest) => object | undefined | Promise<object | undefined>,
): Route {
  async function handle(request: Request): Promise<Reply> {
    const form = await readForm(request);
    const authorization = request.header('authorization');
    const client = claimedId(authorization, form);
    const authenticate = () => {
      const known = authenticateClient(deps.directory, authorization, form);
      deps.rates.take(rateKeyOf(known, request.remoteAddress), deps.clock.monotonic());
      return known;
    };
    try {
      return reply(await answer({ form, request, authenticate }));
    } catch (error) {
      if (isFailure(error)) deps.failures.note(client, request.remoteAddress, deps.clock.monotonic());
      throw error;
    }
  }

  return { method: 'POST', path, handle: (request) => handle(request).catch(refuse) };
}

function reply(body: object | undefined): Reply {
  if (body === undefined) return { status: 200, headers: { 'cache-control': uncached['cache-control'] } };
  return { status: 200, headers: uncached, body: JSON.stringify(body) };
}

/** Whether somebody may be guessing. */
function isFailure(error: unknown): boolean {
  return error instanceof OAuthError && (error.code === 'invalid_client' || error.code === 'invalid_grant');
}

function refuse(error: unknown): Reply {
  if (error instanceof OAuthError) return oauthErrorReply(error);
  if (!(error instanceof ApiError)) throw error;
  const { message, status, retryAfter } = error;
  return oauthErrorReply(
    new OAuthError('temporarily_unavailable', message, {
      status,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }),
  );
}
