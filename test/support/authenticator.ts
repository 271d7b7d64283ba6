import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** Options with which a page calls the browser's WebAuthn API. */
export interface AskedOptions {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
}

/** Deviations from a correct response. */
export interface ResponseChanges {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  /** False if the device does not verify its user; true by default. */
  readonly verified?: boolean;
  readonly counter?: number;
  /** Additional members of the client data. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** Bits of the flags to invert. */
  readonly flippedFlags?: number;
  /** Additional bytes after the authenticator data. */
  readonly trailing?: Buffer;
  /** The attestation statement and its format; by default, no attestation. */
  readonly attestation?: readonly [format: string, statement: Map<string, unknown>];
}

/** The fields that the script of the page adds to the form. */
export type FormFields = Readonly<Record<string, string>>;

/** The flags of the authenticator data (WebAuthn §6.1). */
export const flags = { present: 1, verified: 4, backupEligible: 8, backedUp: 16, attested: 64 } as const;

/** A software authenticator with one passkey. It responds to pages as a browser and a device do together. */
export class Authenticator {
  readonly id: Buffer;
  /** Signature counter of the last response. A counter that starts at 0 stays 0. */
  counter: number;
  readonly #origin: string;
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  #userHandle = '';

  constructor(origin: string, { id, counter = 0 }: { readonly id: Buffer; readonly counter?: number }) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#origin = origin;
    this.#key = privateKey;
    this.#publicKey = encodeCoseKey(publicKey);
    this.id = id;
    this.counter = counter;
  }

  /** Creates the passkey (WebAuthn §7.1). */
  create(options: AskedOptions, tampering: ResponseChanges = {}): FormFields {
    this.#userHandle = options.user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.#publicKey]);
    const data = this.#authData(tampering.rpId ?? options.rp!.id, flags.attested, tampering);
    const [format, statement] = tampering.attestation ?? ['none', new Map()];
    const attestation = cbor(
      new Map<string, unknown>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', Buffer.concat([data, credential, tampering.trailing ?? Buffer.alloc(0)])],
      ]),
    );
    return {
      credential: text(this.id),
      client_data: this.#clientData('webauthn.create', options, tampering),
      attestation: text(attestation),
      transports: 'internal',
    };
  }

  /** Signs a challenge (WebAuthn §7.2). */
  get(options: AskedOptions, tampering: ResponseChanges = {}): FormFields {
    if (this.counter > 0) this.counter += 1;
    const { trailing = Buffer.alloc(0), userHandle = this.#userHandle } = tampering;
    const data = Buffer.concat([this.#authData(tampering.rpId ?? options.rpId!, 0, tampering), trailing]);
    const clientData = this.#clientData('webauthn.get', options, tampering);
    const hash = createHash('sha256').update(Buffer.from(clientData, 'base64url')).digest();
    return {
      credential: text(this.id),
      client_data: clientData,
      authenticator_data: text(data),
      signature: text(sign('sha256', Buffer.concat([data, hash]), this.#key)),
      ...(userHandle !== '' && { user_handle: userHandle }),
    };
  }

  #clientData(type: string, { challenge }: AskedOptions, tampering: ResponseChanges): string {
    const data = { type, challenge, origin: this.#origin, crossOrigin: false };
    const { origin = data.origin, type: otherType = type, challenge: other = challenge } = tampering;
    const sent = { ...data, origin, type: otherType, challenge: other, ...tampering.clientData };
    return text(Buffer.from(JSON.stringify(sent)));
  }

  #authData(
    rpId: string,
    more: number,
    { verified = true, counter = this.counter, flippedFlags = 0 }: ResponseChanges,
  ): Buffer {
    const end = Buffer.alloc(5);
    end[0] = (flags.present | more | (verified ? flags.verified : 0)) ^ flippedFlags;
    end.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), end]);
  }
}

function text(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** Encodes a public key as a COSE key for ES256 (RFC 9053 §7.1.1). */
function encodeCoseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const coordinates = [x, y].map((each) => Buffer.from(each, 'base64url'));
  return cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinates[0]],
      [-3, coordinates[1]],
    ]),
  );
}

/** Encodes small integers, texts, bytes, arrays and maps as CBOR (RFC 8949). */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  return size < 256 ? Buffer.from([(major << 5) | 24, size]) : Buffer.from([(major << 5) | 25, size >> 8, size & 255]);
}
