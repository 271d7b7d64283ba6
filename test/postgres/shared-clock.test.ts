import { describe, expect, it } from 'vitest';
import { SharedClock } from '../../src/postgres/shared-clock.ts';

/** A machine whose clock is an hour ahead, and a PostgreSQL whose answers take the given times. */
function setUp() {
  const engine = { now: 1_000_000 };
  const passed = { ms: 0 };
  const time = new SharedClock({ now: () => engine.now + 3_600_000, monotonic: () => passed.ms });
  const pass = (ms: number) => {
    engine.now += ms;
    passed.ms += ms;
  };
  const hear = (thereMs: number, backMs: number) => {
    const asked = passed.ms;
    pass(thereMs);
    const at = engine.now;
    pass(backMs);
    time.heard(at, asked);
  };
  return { engine, time, pass, hear };
}

describe("PostgreSQL's time", () => {
  it("knows how far the machine's clock is ahead, less what a slow answer may explain", () => {
    const { time, hear } = setUp();
    hear(30, 30);
    expect(time.skewMs).toBe(3_600_000 - 30);
  });

  it("is the machine's own until PostgreSQL has answered", () => {
    const { engine, time } = setUp();
    expect(time.now()).toBe(engine.now + 3_600_000);
  });

  it('goes on with the clock for ages, and is behind by the way back of the answer', () => {
    const { engine, time, pass, hear } = setUp();
    hear(40, 7);
    pass(5_000);
    expect(time.now()).toBe(engine.now - 7);
  });

  it('gets better with a faster answer, and no worse with a slower one', () => {
    const { engine, time, hear } = setUp();
    hear(0, 100);
    hear(50, 3);
    expect(time.now()).toBe(engine.now - 3);
    hear(0, 100);
    expect(time.now()).toBe(engine.now - 3);
  });

  it.each([-2_000, 2_000])('follows a server whose clock differs by %i ms', (ms) => {
    const { engine, time, hear } = setUp();
    hear(1, 1);
    engine.now += ms;
    hear(1, 1);
    expect(Math.abs(time.now() - engine.now)).toBeLessThanOrEqual(1);
  });
});
