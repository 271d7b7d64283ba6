/** Time limit of every wait in a test, ms. It ends a test that hangs. It does not test the speed of the machine. */
export const patienceMs = 120_000;
