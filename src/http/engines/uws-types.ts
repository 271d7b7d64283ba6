/** The parts of uWebSockets.js in use: the package is optional, and its own types lack some of them. */
export interface Uws {
  App(): App;
  SSLApp(options: { cert_file_name: string; key_file_name: string; ssl_ciphers: string }): App;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** An opaque handle. */
export type ListenSocket = object;

export interface App {
  any(pattern: string, handle: (res: HttpResponse, req: HttpRequest) => void): void;
  listen(host: string, port: number, option: number, listening: (socket: ListenSocket | false) => void): void;
  close(): void;
}

export interface HttpRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(callback: (name: string, value: string) => void): void;
}

export interface HttpResponse {
  onAborted(handler: () => void): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  /** @returns false if the client has not read the earlier data */
  write(chunk: Uint8Array): boolean;
  /** Called when the client has read the data. */
  onWritable(handler: (offset: number) => boolean): void;
  cork(write: () => void): void;
  writeStatus(status: string | Uint8Array): void;
  writeHeader(name: string, value: string): void;
  end(body?: string | Uint8Array, closeConnection?: boolean): void;
  endWithoutBody(): void;
  close(): void;
  pause(): void;
  resume(): void;
  getRemoteAddressAsText(): ArrayBuffer;
}
