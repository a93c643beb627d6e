/**
 * A minute, in milliseconds: what ends something that hangs, and no measure of speed. Whatever takes a limit extends it on a slow machine
 * itself: jest's tests and hooks (testing/runner/patient-environment.ts), clients, commands, and `deadlineIn`.
 */
export const minutes = 60_000;
