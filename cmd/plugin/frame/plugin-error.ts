import { exitCodes } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';

/** A failure in one line for a person: what was seen, and the remedy. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
