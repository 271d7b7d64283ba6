import { Agent, request } from 'node:http';

/** Sends packets one after another over one keep-alive connection. */
export interface PacketSender {
  /** Resolves with the status, or `undefined` if the connection broke before the response. */
  send(packet: unknown, headers?: Readonly<Record<string, string>>): Promise<number | undefined>;
  close(): void;
}

/** @param http HOST:PORT of the service */
export function openSender(http: string): PacketSender {
  const [host, port] = http.split(':');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const common = { 'content-type': 'application/json', origin: 'https://app.example.com' };
  return {
    send(packet, more) {
      return new Promise((resolve) => {
        const headers = { ...common, ...more };
        const options = { host, port, agent, method: 'POST', path: '/api/frontend/telemetry', headers };
        const outgoing = request(options, (response) => {
          response.resume();
          response.once('close', () => resolve(response.statusCode));
        });
        outgoing.once('error', () => resolve(undefined));
        outgoing.end(JSON.stringify(packet));
      });
    },
    close: () => agent.destroy(),
  };
}
