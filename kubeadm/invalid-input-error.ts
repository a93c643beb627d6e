/** An invalid value from a user. */
export interface InvalidInput {
  /** Path of the field, e.g. `spec.networkProfile.serviceCidr`; callers may prefix it. */
  readonly field: string;
  /** The value as given; absent when it is secret. */
  readonly value?: string | undefined;
  /** Why it cannot be used: completes the sentence “<field> <value> …”. */
  readonly reason: string;
  /** How to fix it, as an imperative sentence. */
  readonly remedy: string;
}

/** An input that no retry can fix. The message names the field, the value, the reason and the remedy. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  readonly input: InvalidInput;
  constructor(input: InvalidInput, options?: ErrorOptions) {
    const value = input.value === undefined ? '' : ` ${JSON.stringify(input.value)}`;
    super(`${input.field}${value} ${input.reason}: ${input.remedy}`, options);
    this.input = input;
  }
}
