/** Limit of every wait in a test, ms. The limit ends a test that hangs; no test is about the speed of the machine. */
export const patienceMs = 120_000;
