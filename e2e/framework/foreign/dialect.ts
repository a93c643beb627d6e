/** In what the objects of Kamaji and those of the Go Steward, which grew out of it, differ. */
export interface Dialect {
  /** API group, and domain of labels, annotations and finalizers. */
  readonly domain: string;
  /** Value of the project label. */
  readonly project: string;
  /** Whether each container of a control plane has a readiness probe. */
  readonly probesAll: boolean;
}

/** Kamaji 26.8. */
export const kamaji: Dialect = { domain: 'kamaji.clastix.io', project: 'kamaji', probesAll: true };

/** The Go Steward 0.4. */
export const goSteward: Dialect = { domain: 'steward.butlerlabs.dev', project: 'steward', probesAll: false };
