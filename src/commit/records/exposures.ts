import { assert } from '../../assert.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** In the place of a series: the record begins a person, whose exposures follow. */
const person = -1;

/** Which variants people were given. */
export class ExposureRecords extends RecordBuffer {
  #begun = false;

  /** Begins the exposures of a person in one environment, by the digest of the identity (see `digestIdentity`). */
  addPerson(digest: Digest): void {
    this.#begun = true;
    this.append(person, digest[0], digest[1], digest[2], digest[3]);
  }

  /** Adds what the person was given of a variant, at a time in Unix seconds. */
  add(ref: number, seconds: number, checks: number, used: number, viewed: number): void {
    assert(this.#begun, 'an exposure follows its person');
    this.append(ref, seconds, checks, used, viewed);
  }
}

export interface ExposureVisitor {
  /** The exposures that follow are this person's. */
  person(digest: Buffer): void;
  exposure(ref: number, seconds: number, checks: number, used: number, viewed: number): void;
}

/** Reads the exposures of a sealed batch, each after its person. */
export function eachExposure({ exposures, batch }: Envelope, visitor: ExposureVisitor): void {
  eachRecord(exposures, batch, (a, b, c, d, e) => {
    if (a === person) visitor.person(digestBytes(b, c, d, e));
    else visitor.exposure(a, b, c, d, e);
  });
}
