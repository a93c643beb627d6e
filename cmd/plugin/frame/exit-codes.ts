/** The exit codes of `kubectl steward`. They must not change: scripts depend on them. */
export const exitCodes = {
  ok: 0,
  /** Refused, or failed. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** Something does not exist, or was not done in time. */
  absent: 3,
  /** Interrupted by a signal. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each code means, for the reference page. */
export const exitCodeMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCodes.ok, 'Done.'],
  [exitCodes.failed, 'Refused or failed. The message says why, and the remedy.'],
  [exitCodes.usage, 'The command line is invalid.'],
  [
    exitCodes.absent,
    'What was named does not exist, or was not done within `--timeout`. What was requested stays requested.',
  ],
  [exitCodes.interrupted, 'Interrupted, for example with Ctrl-C. What was requested stays requested.'],
];
