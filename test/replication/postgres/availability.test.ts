import { expect, test } from 'vitest';
import { Availability } from '../../../src/replication/postgres/availability.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { testClock } from '../../accounts/fixture.ts';

const away = 'PostgreSQL does not answer';
const back = 'PostgreSQL answers';
const why = new Error('too many connections for role');

function watch() {
  const clock = testClock();
  const said: string[] = [];
  const log = createLog('info', (line) => void said.push(JSON.parse(line).msg), clock);
  return { clock, said, availability: new Availability(clock, log, { away, next: '', back }) };
}

test('an outage is logged when it begins, each minute while it lasts, and when it ends', () => {
  const { clock, said, availability } = watch();
  for (let seconds = 0; seconds < 150; seconds += 1) {
    availability.failed(why);
    clock.advance(1000);
  }
  availability.succeeded();
  expect(said).toEqual([away, away, away, back]);
});

test('the outages of a PostgreSQL that responds to only one of two connections are logged once a minute', () => {
  const { clock, said, availability } = watch();
  for (let seconds = 0; seconds < 90; seconds += 1) {
    availability.failed(why);
    availability.succeeded();
    clock.advance(1000);
  }
  expect(said).toEqual([away, back, away, back]);
  expect(availability.trouble).toBeUndefined();
});
