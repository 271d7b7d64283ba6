import Type, { type Static, type TObject, type TProperties } from 'typebox';
import { Refusal, storeUnavailable } from '../../contract/errors.ts';
import { type DeepReadonly, text } from '../../contract/shapes/fields.ts';
import { decodeText, readBody } from '../../http/body.ts';
import {
  type DeclaredResponse,
  type Endpoint,
  type Headers,
  NotCached,
  type Operation,
  RetryAfter,
} from '../../http/endpoint.ts';
import { parsePairs } from '../../http/pairs.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import { assertionType, authenticateByAssertion, claimedByAssertion, useOnce } from './client-assertion.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  type ClientFailures,
  type ClientRates,
  claimedId,
  type Form,
  rateKey,
  tooManyFailures,
  tooOften,
  unknownClient,
} from './clients.ts';
import type { DeviceCodes } from './device-codes.ts';
import { OAuthError, type OAuthRefusals, oauthErrorResponse, oauthRefusal, uncached } from './oauth-error.ts';
import type { Services } from './services.ts';
import type { TokenTotals } from './tokens.ts';
import type { ValidateToken } from './validation.ts';
import type { IssuerKeys } from './workload-token.ts';

/** Maximum length of a form, bytes: more than the longest code, verifier, token and redirect URI together. */
const longestForm = 16_384;

/** Error text for a form with a repeated parameter (RFC 6749 §3.2). */
export const repeatedParameter = 'A parameter is repeated';

/**
 * Reads the form of a token request (RFC 6749 §3.2).
 * @throws {OAuthError} `invalid_request`: wrong content type, broken encoding, repeated parameter, or too long
 */
export async function readForm(request: Request): Promise<Form> {
  if (!isForm(request)) {
    throw new OAuthError('invalid_request', `Send the parameters as ${formType}`);
  }
  try {
    return parseForm(decodeText(await readBody(request, longestForm)));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new OAuthError('invalid_request', error.message, { status: error.status });
  }
}

const formType = 'application/x-www-form-urlencoded';

export function isForm(request: Request): boolean {
  const sent = request.header('content-type') ?? '';
  if (sent === formType) return true;
  const [type = ''] = sent.split(';', 1);
  return type.trim().toLowerCase() === formType;
}

/** @throws {OAuthError} `invalid_request` */
export function parseForm(text: string): Form {
  const { form, repeated } = parseParameters(text);
  if (repeated.size > 0) throw new OAuthError('invalid_request', repeatedParameter);
  return form;
}

/**
 * Parses parameters, and collects the repeated names. Of a repeated parameter, `form` has the first value.
 * @throws {OAuthError} `invalid_request`: broken encoding
 */
export function parseParameters(text: string): { form: Form; repeated: ReadonlySet<string> } {
  const form = new Map<string, string>();
  const repeated = new Set<string>();
  const pairs = parsePairs(text);
  if (pairs === undefined) throw new OAuthError('invalid_request', 'A parameter is not percent-encoded UTF-8');
  for (const [name, value] of pairs) {
    if (value === '') continue;
    if (form.has(name)) repeated.add(name);
    else form.set(name, value);
  }
  return { form, repeated };
}

/**
 * Returns a reader of a form's fields. Fields that are not in the schema are ignored (RFC 6749 §3.2).
 * @param schema the fields; the `description` of a string explains its `pattern`
 * @returns a function that throws an `OAuthError` with `invalid_request` for a missing or malformed field
 */
function fieldReader<Schema extends TObject>({ properties, required }: Schema): (form: Form) => Static<Schema> {
  const fields = Object.entries(properties as Readonly<Record<string, FieldRules>>).map(([name, rules]) => ({
    name,
    must: rules.description,
    pattern: rules.pattern === undefined ? undefined : new RegExp(rules.pattern),
    isRequired: required?.includes(name) ?? false,
  }));
  return (form) => {
    const values: Record<string, string> = {};
    for (const { name, must, pattern, isRequired } of fields) {
      const value = form.get(name);
      if (value !== undefined) values[name] = value;
      else if (isRequired) throw new OAuthError('invalid_request', `${name} is missing`);
      if (value !== undefined && pattern?.test(value) === false)
        throw new OAuthError('invalid_request', `${name} must be ${must}`);
    }
    return values as Static<Schema>;
  };
}

interface FieldRules {
  readonly pattern?: string;
  readonly description?: string;
}

/** Services of the endpoints for clients. All these endpoints count against the same rate limits. */
export interface ClientServices extends Services {
  readonly validate: ValidateToken;
  readonly devices: DeviceCodes;
  readonly issuerKeys: Pick<IssuerKeys, 'of'>;
  readonly failures: ClientFailures;
  readonly rates: ClientRates;
  readonly totals: TokenTotals;
}

export interface ClientCall<Client, Fields> {
  readonly client: Client;
  readonly fields: Fields;
  readonly request: Request;
}

export interface ClientForm<Body> {
  readonly schema: TObject;
  /** Identifies a client that `respond` authenticates later. @throws {OAuthError} */
  readonly identify?: (services: ClientServices, authorization: string | undefined, form: Form) => AuthenticatedClient;
  /** @throws {OAuthError} */
  respond(client: AuthenticatedClient, form: Form, request: Request, services: ClientServices): Body | Promise<Body>;
}

/**
 * Declares a form. Checks the kind of the client before the fields.
 * @param by converts the client for `handle`; throws an `OAuthError` for a client of another kind
 */
export function clientForm<Client, const Fields extends TProperties, Body>({
  by,
  fields,
  handle,
}: {
  readonly by: (client: AuthenticatedClient, request: Request) => Client;
  readonly fields: Fields;
  readonly handle: (
    call: ClientCall<Client, Static<Type.TObject<Fields>>>,
    services: ClientServices,
  ) => Body | Promise<Body>;
}): ClientForm<Body> {
  const schema = Type.Object(fields);
  const read = fieldReader(schema);
  return {
    schema,
    respond: (client, form, request, services) =>
      handle({ client: by(client, request), fields: read(form), request }, services),
  };
}

/** An endpoint to which clients post a form, with credentials in the form or in the `Authorization` header. */
interface ClientDeclaration<Body> {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly credential?: string;
  readonly who: string;
  readonly forms: readonly ClientForm<DeepReadonly<NoInfer<Body>>>[];
  /**
   * Selects one of several forms.
   * @throws {OAuthError}
   */
  readonly choose?: (form: Form) => ClientForm<DeepReadonly<NoInfer<Body>>>;
  /** The response with status 200: JSON or an empty body. */
  readonly response: DeclaredResponse<Body>;
  /** Refusals with status 400, in addition to a malformed form. */
  readonly refuses: OAuthRefusals;
}

/**
 * Creates an endpoint for clients, with error responses as in RFC 6749 §5.2. The endpoint limits the requests of each
 * client and the failures of each address.
 */
export function clientEndpoint<Body extends object | undefined>(
  path: string,
  declaration: ClientDeclaration<Body>,
): Endpoint<ClientServices> {
  const { credential = secretOrPublic, who, forms, choose = () => forms[0]! } = declaration;

  async function respondTo(services: ClientServices, form: Form, request: Request): Promise<HttpResponse> {
    const authorization = request.header('authorization');
    try {
      const chosen = choose(form);
      const identified = chosen.identify?.(services, authorization, form);
      if (identified !== undefined) takeRate(services, identified, request);
      const client =
        identified ??
        (form.has('client_assertion')
          ? await authenticateByKey(services, authorization, form, request)
          : authenticateBySecret(services, authorization, form, request));
      return successResponse(await chosen.respond(client, form, request, services));
    } catch (error) {
      const claimed = () => claimedId(authorization, form) || claimedByAssertion(form);
      if (isFailure(error)) services.failures.note(claimed(), request.remoteAddress, services.clock.monotonic());
      throw error;
    }
  }

  return {
    method: 'POST',
    path,
    access: { credential, who },
    operation: describe(declaration),
    bind: (services) => async (request) => {
      try {
        return await respondTo(services, await readForm(request), request);
      } catch (error) {
        return refuse(error);
      }
    },
  };
}

async function authenticateByKey(
  services: ClientServices,
  authorization: string | undefined,
  form: Form,
  request: Request,
): Promise<AuthenticatedClient> {
  const asserted = await authenticateByAssertion(services, authorization, form);
  takeRate(services, asserted.client, request);
  await useOnce(services, asserted);
  return recordUse(services, asserted.client);
}

/** @throws {OAuthError} `invalid_client`, `invalid_request`, `slow_down` */
function authenticateBySecret(
  services: ClientServices,
  authorization: string | undefined,
  form: Form,
  request: Request,
): AuthenticatedClient {
  const client = authenticateClient(services.directory, authorization, form);
  takeRate(services, client, request);
  return recordUse(services, client);
}

function recordUse({ directory }: ClientServices, client: AuthenticatedClient): AuthenticatedClient {
  if (client.kind === 'api-key') directory.recordApiKeyUse(client.id);
  return client;
}

/** Counts a request of a client. @throws {OAuthError} `slow_down` */
function takeRate({ rates, clock }: ClientServices, client: AuthenticatedClient, request: Request): void {
  rates.take(rateKey(client, request), clock.monotonic());
}

const secretOrPublic = 'Client id, with a secret or a signed assertion unless the client is public';

function successResponse(body: object | undefined): HttpResponse {
  if (body === undefined) return { status: 200, headers: { 'cache-control': uncached['cache-control'] } };
  return { status: 200, headers: uncached, body: JSON.stringify(body) };
}

/** True if an error can result from a guessed credential. */
function isFailure(error: unknown): boolean {
  return error instanceof OAuthError && (error.code === 'invalid_client' || error.code === 'invalid_grant');
}

function refuse(error: unknown): HttpResponse {
  if (error instanceof OAuthError) return oauthErrorResponse(error);
  if (!(error instanceof Refusal)) throw error;
  const { message, status, retryAfter } = error;
  return oauthErrorResponse(new OAuthError('temporarily_unavailable', message, { status, retryAfter }));
}

/** Fields of every form. A client without an `Authorization` header identifies itself in them (RFC 6749 §2.3.1). */
const credentials = {
  client_id: Type.Optional(text('Client id, unless sent as `Authorization: Basic`.')),
  client_secret: Type.Optional(
    Type.String({ format: 'password', description: 'Client secret. A public client has no secret.' }),
  ),
  client_assertion_type: Type.Optional(Type.Literal(assertionType)),
  client_assertion: Type.Optional(text('A JWT signed with a registered key (RFC 7523 §2.2), in place of a secret.')),
};

const BasicChallenge: Headers = {
  'WWW-Authenticate': {
    component: 'BasicChallenge',
    description: 'Only if the request had an `Authorization` header (RFC 6749 §5.2).',
    schema: { type: 'string' },
  },
};

function describe<Body>(declaration: ClientDeclaration<Body>): Operation {
  const { operationId, summary, description, forms, response, refuses } = declaration;
  const schemas = forms.map(({ schema }) => Type.Object({ ...schema.properties, ...credentials }));
  const wait = { 'Retry-After': RetryAfter };
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    body: { 'application/x-www-form-urlencoded': { schema: schemas.length === 1 ? schemas[0]! : Type.Union(schemas) } },
    responses: {
      200: { ...response, headers: { ...response.headers, 'Cache-Control': NotCached } },
      400: oauthRefusal('The request is refused.', { invalid_request: repeatedParameter, ...refuses }),
      401: oauthRefusal(`${unknownClient}.`, { invalid_client: unknownClient }, BasicChallenge),
      413: oauthRefusal('The form is too long.', {
        invalid_request: `The maximum size of a body is ${longestForm} bytes`,
      }),
      429: oauthRefusal(
        'The client sends too many requests, or too many requests have failed.',
        { slow_down: tooOften, temporarily_unavailable: tooManyFailures },
        wait,
      ),
      503: oauthRefusal(
        'The service is temporarily unavailable.',
        { temporarily_unavailable: storeUnavailable.changeNotKept },
        wait,
      ),
    },
  };
}
