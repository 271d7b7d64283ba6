import { connect, createServer, type Server, type Socket } from 'node:net';
import { Lane } from './lane.ts';
import { hub } from './network.ts';

/** A TCP proxy whose connections can be slow, stalled or broken. */
export class Link {
  readonly #server: Server;
  /** Host of the target. */
  readonly host: string;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** Delay in each direction. */
  delayMs = 0;
  #isSilent = false;

  private constructor(server: Server, host: string) {
    this.host = host;
    this.#server = server;
  }

  /** Opens a proxy at the hub. */
  static open(port: number, target: { readonly host: string; readonly port: number }): Promise<Link> {
    const server = createServer({ allowHalfOpen: false });
    const link = new Link(server, target.host);
    server.on('connection', (near) => link.#take(near, connect(target)));
    return new Promise((opened) => server.listen(port, hub, () => opened(link)));
  }

  /** A silent link passes no data, but keeps connections open. */
  set isSilent(silent: boolean) {
    this.#isSilent = silent;
    for (const pair of this.#pairs) for (const socket of pair) silent ? socket.pause() : socket.resume();
  }

  /** Resets every connection. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #take(near: Socket, far: Socket): void {
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    this.#relay(near, far);
    this.#relay(far, near);
    near.once('close', () => this.#pairs.delete(pair));
  }

  #relay(from: Socket, to: Socket): void {
    const lane = new Lane();
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('data', (bytes) => lane.push(() => void (to.writable && to.write(bytes)), this.delayMs));
    from.on('close', () => lane.push(() => to.destroy(), this.delayMs));
    if (this.#isSilent) from.pause();
  }
}
