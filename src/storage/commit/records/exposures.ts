import { assert } from '../../../runtime/assert.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Envelope } from '../envelope.ts';
import { eachRecord, eachRecordOf, RecordBuffer, type RecordRange } from './record-buffer.ts';

/** The value in place of a series that marks the start of a person, whose exposures follow. */
const person = -1;

/** Which variants people were given. */
export class ExposureRecords extends RecordBuffer {
  #begun = false;

  /** Begins the exposures of a person in one environment, by the digest of the identity (see `digestIdentity`). */
  addPerson(digest: Digest): void {
    this.#begun = true;
    this.append(person, digest[0], digest[1], digest[2], digest[3]);
  }

  /** Adds the person's exposure to a variant, at a time in Unix seconds. */
  add(ref: number, seconds: number, checks: number, used: number, viewed: number): void {
    assert(this.#begun, 'an exposure follows its person');
    this.append(ref, seconds, checks, used, viewed);
  }
}

export interface ExposureVisitor {
  /** Starts a person, to whom the following exposures belong. */
  person(digest: Buffer): void;
  exposure(ref: number, seconds: number, checks: number, used: number, viewed: number): void;
}

/** Reads the exposures of a sealed batch, grouped by person. */
export function eachExposure({ exposures, batch, apart }: Envelope, visitor: ExposureVisitor): void {
  eachRecord(exposures, batch, toVisitor(visitor), apart?.exposures);
}

/** Reads a range of the exposures, which must start with a person. */
export function eachExposureOf(
  { exposures, batch }: Envelope,
  range: RecordRange,
  visitor: ExposureVisitor,
): void {
  eachRecordOf(exposures, batch, range, toVisitor(visitor));
}

function toVisitor(visitor: ExposureVisitor) {
  return (a: number, b: number, c: number, d: number, e: number) => {
    if (a === person) visitor.person(digestBytes(b, c, d, e));
    else visitor.exposure(a, b, c, d, e);
  };
}
