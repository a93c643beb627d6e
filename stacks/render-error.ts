/** Why a chart was not rendered. */
export type RenderFailure =
  /** There is nothing where the chart should be. */
  | 'ChartMissing'
  /** The chart, its values or the template is wrong; helm says how. */
  | 'ChartBroken'
  /** The chart says that it does not work with this version of Kubernetes. */
  | 'KubernetesVersionExcluded'
  /** This image, or this machine, has no helm. */
  | 'HelmMissing'
  /** It took longer than it may. */
  | 'TimedOut'
  /** It held more memory than it may. */
  | 'TooMuchMemory'
  /** What it holds could not be seen. */
  | 'MemoryUnseen'
  /** It wrote more than it may. */
  | 'TooLarge';

/** A chart was not rendered. The message is for people and holds no values. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly failure: RenderFailure;

  constructor(failure: RenderFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
