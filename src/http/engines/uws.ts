import { createRequire } from 'node:module';
import { bindFailure, freePort } from '../bind-failure.ts';
import { cipherSuites, readTls } from '../tls.ts';
import type { AddressFinder, HttpEngine, Listener, ListenOptions, TlsFiles } from '../types.ts';
import { BodyDeadlines, maxHead } from './limits.ts';
import { type DefaultHeaders, defaultHeaders } from './response-headers.ts';
import { type App, type ListenSocket, type Uws, UwsExchange } from './uws-exchange.ts';

/**
 * The HTTP engine uWebSockets.js on Node. It handles `Expect: 100-continue` itself, speaks HTTP/1.1 only, and drops a
 * connection after waiting 10 s for a request.
 */
export const uwsEngine: HttpEngine = {
  name: 'uws',
  async listen(options) {
    const uws = loadUws();
    const server = new Server(createApp(uws, options.tls), options);
    const { host, tls, joins } = options;
    const shares = tls !== undefined && joins !== true;
    const port = shares ? await freePort(host, options.port) : options.port;
    return server.listen(uws, { ...options, port });
  },
};

/** Loads the add-on, an optional dependency. @throws {Error} with the missing package or add-on and the remedy */
export function loadUws(): Uws {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(maxHead);
  try {
    return createRequire(import.meta.url)('uWebSockets.js');
  } catch (error) {
    throw new Error(`Cannot serve HTTP on Node ${process.version}: ${whyNot(error as Error)}`, { cause: error });
  }
}

function whyNot({ message }: Error): string {
  if (message.includes("Cannot find module 'uWebSockets.js'"))
    return 'uWebSockets.js is not installed; run "npm install uWebSockets.js@npm:uwebsockets", or use the executable';
  const reason = message.split('\n\n').at(-1)!.split('\n')[0]!;
  return `uWebSockets.js has no add-on that loads here (${reason}); install another release of uWebSockets.js, or use the executable`;
}

function createApp(uws: Uws, tls: TlsFiles | undefined): App {
  if (tls === undefined) return uws.App();
  readTls(tls); // Throws an error with the reason, which uWebSockets.js does not report.
  return uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile, ssl_ciphers: cipherSuites });
}

class Server {
  readonly #app: App;
  #inFlight = 0;
  /** Result of all `close` calls. Closing a socket twice would crash the process. */
  #closed: Promise<void> | undefined;
  /** Called when no request is in flight; set while closing. */
  #onIdle: (() => void) | undefined;

  readonly deadlines: BodyDeadlines;
  readonly findAddress: AddressFinder;
  readonly every: DefaultHeaders;

  constructor(app: App, { dispatch, secondMs, headers, findAddress = (connected) => connected }: ListenOptions) {
    this.#app = app;
    this.every = defaultHeaders(headers);
    this.findAddress = findAddress;
    this.deadlines = new BodyDeadlines(secondMs);
    app.any('/*', (res, req) => {
      this.#inFlight += 1;
      new UwsExchange(res, req, this).serve(dispatch);
    });
  }

  listen(uws: Uws, { host, port: wanted, tls }: ListenOptions): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const listening = async (socket: ListenSocket | false) => {
        if (socket === false)
          return reject(await bindFailure(host, wanted, new Error('uWebSockets.js gave no reason')));
        const port = uws.us_socket_local_port(socket);
        const close = (graceMs: number) => {
          this.#closed ??= this.#close(graceMs, () => uws.us_listen_socket_close(socket));
          return this.#closed;
        };
        resolve({ host, port, close });
      };
      // A port without TLS is exclusive. A TLS port is shared, as the renewal of TLS files requires.
      this.#app.listen(host, wanted, tls === undefined ? uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0, listening);
    });
  }

  async #close(graceMs: number, stopAccepting: () => void): Promise<void> {
    stopAccepting();
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        const cut = setTimeout(resolve, graceMs);
        // uWebSockets.js writes the last response at the end of this event loop iteration. Closing its socket earlier
        // would lose the response.
        this.#onIdle = () => {
          clearTimeout(cut);
          setImmediate(resolve);
        };
      });
    }
    this.deadlines.close();
    this.#app.close();
  }

  get closing(): boolean {
    return this.#closed !== undefined;
  }

  finished(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  }
}
