import { describe, expect, it } from 'vitest';
import { SharedClock } from '../../../src/replication/postgres/shared-clock.ts';

const hour = 3_600_000;

/** A machine whose clock is an hour ahead, and a PostgreSQL whose answers take the given times. */
function setUp() {
  const engine = { now: 1_000_000 };
  const machine = { now: engine.now + hour };
  const passed = { ms: 0 };
  const time = new SharedClock({ now: () => machine.now, monotonic: () => passed.ms, after: () => {} });
  const pass = (ms: number) => {
    engine.now += ms;
    machine.now += ms;
    passed.ms += ms;
  };
  const hear = (thereMs: number, backMs: number) => {
    const asked = passed.ms;
    pass(thereMs);
    const at = engine.now;
    pass(backMs);
    time.heard(at, asked);
  };
  return { engine, machine, time, pass, hear };
}

describe("PostgreSQL's time", () => {
  it("knows how far the machine's clock is ahead, less what a slow answer may explain", () => {
    const { time, hear } = setUp();
    hear(30, 30);
    expect(time.skewMs).toBe(hour - 30);
  });

  it("is the machine's own until PostgreSQL has answered", () => {
    const { engine, time } = setUp();
    expect(time.now()).toBe(engine.now + hour);
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

  describe.each([-hour, -6_000, 6_000, hour])("after a jump of PostgreSQL's clock by %i ms", (ms) => {
    function jump() {
      const all = setUp();
      const { engine, machine, hear } = all;
      machine.now = engine.now;
      hear(1, 1);
      engine.now += ms;
      hear(1, 1);
      return all;
    }

    it("goes on as before while the machine's clock does not agree", () => {
      const { engine, machine, time, pass, hear } = jump();
      pass(60_000);
      hear(1, 1);
      expect(time.now()).toBe(machine.now - 1);
      expect(Math.abs(time.skewMs)).toBeGreaterThan(5_000);
      engine.now -= ms;
      hear(1, 1);
      expect(time.now()).toBe(machine.now - 1);
      expect(time.skewMs).toBe(0);
    });

    it("follows it once the machine's clock agrees", () => {
      const { engine, machine, time, hear } = jump();
      machine.now += ms;
      hear(1, 1);
      expect(Math.abs(time.now() - engine.now)).toBeLessThanOrEqual(1);
      expect(time.skewMs).toBe(0);
    });
  });

  it("follows PostgreSQL after a jump of the machine's clock", () => {
    const { engine, machine, time, hear } = setUp();
    hear(1, 1);
    machine.now -= 3 * hour;
    hear(1, 1);
    expect(time.now()).toBe(engine.now - 1);
  });
});
