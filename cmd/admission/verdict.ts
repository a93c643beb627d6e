import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import type { AdmissionAnswer } from '../../runtime/admission/admission.ts';

/** The answer to a request in which these errors were found. */
export function verdict(errors: readonly InvalidInput[]): AdmissionAnswer {
  if (errors.length === 0) return { allowed: true };
  return {
    allowed: false,
    message: errors.map((invalid) => new InvalidInputError(invalid).message).join('; '),
  };
}

/** A refusal says all that matters: a warning beside it would only repeat it, or be about an object that is not stored. */
export function withWarnings(answer: AdmissionAnswer, warnings: () => readonly string[]): AdmissionAnswer {
  return answer.allowed ? { ...answer, warnings: warnings() } : answer;
}
