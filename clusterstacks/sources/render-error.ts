/** Why a chart was not rendered. */
export type RenderFailure =
  /** The chart does not exist. */
  | 'ChartMissing'
  /** The chart, its values or the template is wrong; helm says how. */
  | 'ChartBroken'
  /** The chart does not support this version of Kubernetes. */
  | 'KubernetesVersionExcluded'
  /** This image, or this machine, has no helm. */
  | 'HelmMissing'
  /** It took too long. */
  | 'TimedOut'
  /** It used too much memory. */
  | 'TooMuchMemory'
  /** Its memory use could not be read. */
  | 'MemoryUnseen'
  /** It printed too much. */
  | 'TooLarge';

/** A chart was not rendered. The message is for people and contains no values. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly failure: RenderFailure;

  constructor(failure: RenderFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
