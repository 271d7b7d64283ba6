import type { Reply, Request } from '../../../http/types.ts';
import { type MessageHandler, NotHere } from '../../pipeline.ts';
import type { Packet, PacketSender } from './packet.ts';

/** The thread that owns what a packet may need, for a thread that does not. */
export interface Owner {
  /** Applies all changes that the owner has announced: some may be newer than the head of a request. */
  catchUp(): void;
  /** Whether this thread can count a packet exactly as the owner would. If not now, it may be able to later. */
  countsHere(packet: Packet, sender: PacketSender): boolean;
  /** Has the owner answer a request. @param body if it was read */
  forward(request: Request, body?: Uint8Array): Promise<Reply>;
}

// Created once: making an error would be the largest cost.
const notHere = new NotHere();

type PacketHandler = MessageHandler<Request, Packet, PacketSender, Reply>;

/**
 * Handles packets in a thread that is not their owner. It forwards those that it cannot decide alone: with an `Idempotency-Key`,
 * which only the owner remembers; long or compressed ones, whose memory the owner bounds; and those that need a new series.
 * Nothing is counted or charged for them here.
 * @param maxBody maximum length of a body @param longest length of a body that is read here
 */
export function packetsHere(
  handler: PacketHandler,
  owner: Owner,
  maxBody: number,
  longest: number,
): PacketHandler {
  return {
    ...handler,
    read(request, budget) {
      const length = request.header('content-length');
      if (length === undefined || !(Number(length) <= longest)) throw notHere;
      if (request.header('content-encoding') !== undefined) throw notHere;
      return request.body(maxBody, budget);
    },
    idempotencyKey(request) {
      if (request.header('idempotency-key') !== undefined) throw notHere;
      return undefined;
    },
    check(body, request) {
      owner.catchUp(); // The body may have arrived long after the head.
      return handler.check(body, request);
    },
    resolve(packet, request) {
      const sender = handler.resolve(packet, request);
      if (!owner.countsHere(packet, sender)) throw notHere;
      return sender;
    },
    passOn: (request, body) => owner.forward(request, body),
  };
}
