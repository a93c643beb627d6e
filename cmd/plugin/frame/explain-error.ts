import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import { UsageError } from '../../flags/flags.ts';
import { oneLine } from '../output/one-line.ts';
import { exitCodes } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { PluginError } from './plugin-error.ts';

/** The message for a failure. */
export interface Explanation {
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** A failure as one line with its remedy; undefined for an error that is a defect of this program. */
export function explainError(error: unknown): Explanation | undefined {
  if (error instanceof PluginError) return { message: oneLine(error.message), exitCode: error.exitCode };
  if (error instanceof UsageError || error instanceof InvalidInputError) {
    return { message: oneLine(error.message), exitCode: exitCodes.usage };
  }
  if (error instanceof ApiError) return explainRefusal(error);
  if (error instanceof UnreachableError) {
    const message = `${error.message}; check the address in the kubeconfig, --context and --kubeconfig`;
    return { message: oneLine(message), exitCode: exitCodes.failed };
  }
  if (error instanceof KubeconfigError) return { message: oneLine(withCause(error)), exitCode: exitCodes.failed };
  return undefined;
}

function explainRefusal({ code, message }: ApiError): Explanation {
  const say = (text: string, exitCode: ExitCode = exitCodes.failed): Explanation => ({
    message: oneLine(text),
    exitCode,
  });
  switch (code) {
    case 401:
      return say(
        `the API server does not accept the credentials: ${message}; log in again, or choose another --context`,
      );
    case 403:
      return say(`${message}; ask the operator for this permission`);
    case 404:
      return say(`${message}; if the kind is unknown, Steward is not installed in this cluster`, exitCodes.absent);
    case 409:
      return say(`${message}; run the command again`);
    default:
      return say(message);
  }
}

function withCause({ message, cause }: Error): string {
  return cause === undefined ? message : `${message}: ${describeFailure(cause)}`;
}
