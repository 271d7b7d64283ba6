import { experimental, type ServerCredentials } from '@grpc/grpc-js';

/** A certificate chain and its private key, PEM both. */
export interface GrpcTls {
  readonly cert: string;
  readonly key: string;
}

/** Credentials whose certificate can be replaced while they are in use: new connections get the new one. */
export class RenewableCredentials {
  readonly credentials: ServerCredentials;
  readonly #listeners = new Set<experimental.IdentityCertificateUpdateListener>();
  #tls: GrpcTls;

  constructor(tls: GrpcTls) {
    this.#tls = tls;
    // The first parameter is that of the identity, whatever the library calls it; the other is for clients' certificates.
    this.credentials = experimental.createCertificateProviderServerCredentials(
      {
        addCaCertificateListener() {},
        removeCaCertificateListener() {},
        addIdentityCertificateListener: (listener) => {
          this.#listeners.add(listener);
          // The server is not ready for it within this call.
          process.nextTick(() => this.#tell(listener));
        },
        removeIdentityCertificateListener: (listener) => void this.#listeners.delete(listener),
      },
      null,
      false,
    );
  }

  renew(tls: GrpcTls): void {
    this.#tls = tls;
    for (const listener of this.#listeners) this.#tell(listener);
  }

  #tell(listener: experimental.IdentityCertificateUpdateListener): void {
    listener({ certificate: Buffer.from(this.#tls.cert), privateKey: Buffer.from(this.#tls.key) });
  }
}
