import type { Form } from '../../oauth/clients.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';

type WebAuthn = typeof import('@simplewebauthn/server');

let loading: Promise<WebAuthn> | undefined;

/** Loads the WebAuthn library on first use, because it takes some memory. */
export function loadWebAuthn(): Promise<WebAuthn> {
  loading ??= load();
  return loading;
}

async function load(): Promise<WebAuthn> {
  // A dependency of the library needs this module to be loaded first. The bundler would load it too late.
  await import('reflect-metadata');
  return import('@simplewebauthn/server');
}

/** The bytes of an authenticator's response, in fields of a form, base64url. */
interface SentCredential {
  readonly id: string;
  readonly clientData: string;
}

/** The response to a request for a signature (WebAuthn §5.2.2). */
export interface SentAssertion extends SentCredential {
  readonly authenticatorData: string;
  readonly signature: string;
  /** The id of the user. Absent if the key is only a second factor. */
  readonly userHandle: string | undefined;
}

/** The response to a request for a new credential (WebAuthn §5.2.1). */
export interface SentAttestation extends SentCredential {
  readonly attestation: string;
  readonly transports: readonly string[];
}

/** Maximum length of a credential id, bytes (WebAuthn §4). */
const longestId = 1023;
const longestField = 8192;

/** @throws {OAuthError} `invalid_request` for a missing or malformed field */
export function readAssertion(form: Form): SentAssertion {
  return {
    ...readCredential(form),
    authenticatorData: readBytes(form, 'authenticator_data'),
    signature: readBytes(form, 'signature'),
    userHandle: form.has('user_handle') ? decodeText(readBytes(form, 'user_handle', 64)) : undefined,
  };
}

/** @throws {OAuthError} `invalid_request` for a missing or malformed field */
export function readAttestation(form: Form): SentAttestation {
  const transports = (form.get('transports') ?? '').split(' ').filter((name) => /^[a-z-]{1,32}$/.test(name));
  return { ...readCredential(form), attestation: readBytes(form, 'attestation'), transports: transports.slice(0, 8) };
}

function readCredential(form: Form): SentCredential {
  return { id: readBytes(form, 'credential', longestId), clientData: readBytes(form, 'client_data') };
}

/** Decodes a field of base64url. @param most maximum number of bytes */
function readBytes(form: Form, name: string, most = longestField): string {
  const value = form.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`);
  if (/^[\w-]+$/.test(value) && Buffer.byteLength(value, 'base64url') <= most) return value;
  throw new OAuthError('invalid_request', `${name} must be base64url of at most ${most} bytes`);
}

/** The members of client data (WebAuthn §5.8.1) that are checked here. */
interface ClientData {
  readonly challenge?: unknown;
  readonly crossOrigin?: unknown;
  readonly topOrigin?: unknown;
}

/** The challenge of a response; empty if its client data is malformed. */
export function readChallenge(sent: SentCredential): string {
  const { challenge } = parseClientData(sent);
  return typeof challenge === 'string' ? challenge : '';
}

/**
 * True if the page was in a frame of another site (WebAuthn §7.1 step 10, §7.2 step 14). Such a response is refused
 * here, because the library would accept a registration in a frame, and sometimes a sign-in.
 */
export function isFramed(sent: SentCredential): boolean {
  const { crossOrigin = false, topOrigin } = parseClientData(sent);
  return crossOrigin !== false || topOrigin !== undefined;
}

/** Parses the client data. Returns an empty object if it is malformed. */
function parseClientData({ clientData }: SentCredential): ClientData {
  try {
    const parsed: unknown = JSON.parse(decodeText(clientData));
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

function decodeText(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString();
}

/** Converts a response to the JSON that the library reads. */
export function responseJson<Response extends object>({ id, clientData }: SentCredential, response: Response) {
  const type = 'public-key' as const;
  return { id, rawId: id, type, response: { clientDataJSON: clientData, ...response }, clientExtensionResults: {} };
}
