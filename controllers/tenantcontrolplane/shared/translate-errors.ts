import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { RetryError, TerminalError } from '../../../runtime/client/errors.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { StoreError } from '../../../stores/store-error.ts';

/** How long an unusable datastore is not contacted again, in milliseconds. */
const storeRetryMs = 10_000;

/** The error as the runtime understands it: errors that only a change of the spec can fix are not retried. */
export function translated(error: unknown): unknown {
  if (error instanceof InvalidInputError) return new TerminalError('InvalidSpec', error.message, { cause: error });
  if (error instanceof StoreError) return new RetryError(error.reason, error.message, storeRetryMs, { cause: error });
  return error;
}

/** The phase with its errors translated. */
export function translatingErrors<S>(phase: Phase<S>): Phase<S> {
  return {
    ...phase,
    run: async (scope, ctx) => {
      try {
        return withTranslatedFindings(await phase.run(scope, ctx));
      } catch (error) {
        throw translated(error);
      }
    },
  };
}

function withTranslatedFindings<S>(outcome: Outcome<S>): Outcome<S> {
  if (outcome.is !== 'done' || outcome.findings === undefined) return outcome;
  const findings = outcome.findings.map((one) => ('error' in one ? { ...one, error: translated(one.error) } : one));
  return { ...outcome, findings };
}
