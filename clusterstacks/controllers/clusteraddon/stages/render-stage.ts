import type { Key, Manifest } from '../../../../api/meta.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import type { AddonStage } from '../../../sources/cluster-addon-config.ts';
import type { ReleaseAssets } from '../../../sources/release-assets.ts';
import type { Renderer } from '../../../sources/renderer.ts';
import { valuesFrom } from './addon-values.ts';
import type { Renderings } from '../../../sources/generated-parts.ts';
import { compareRenderings, digestOf } from '../../../sources/generated-parts.ts';
import type { BoundedCache } from '../../../sources/bounded-cache.ts';
import { StageError, lookAgain } from '../stage-error.ts';
import { stageFiles } from './stage-files.ts';
import { addonNamespace } from '../workload/apply-objects.ts';

/** What stages are rendered with. */
export interface RenderInputs {
  readonly renderer: Renderer;
  readonly assets: ReleaseAssets;
  /** Root of values templates: objects of the management cluster. */
  readonly root: Readonly<Record<string, unknown>>;
  /** The ClusterAddon, which gets its turns among others. */
  readonly requester: Key;
  /** Values that were expanded before, by a hash over template and root. */
  readonly values: BoundedCache<string>;
  readonly signal: AbortSignal;
}

/** A stage with its values, ready to be rendered. */
export interface PreparedStage {
  readonly stage: AddonStage;
  readonly chart: string;
  readonly values?: string;
  /** Of all that the stage is made from, but for what the workload cluster serves. */
  readonly digest: string;
}

/** Name of the Helm release, as charts of stacks know it. */
const releaseName = 'cluster-addon';

/**
 * Expands a stage's values; none are passed on from stage to stage.
 * @throws StageError when there is no chart, or when its values cannot be expanded.
 */
export async function prepareStage(stage: AddonStage, inputs: RenderInputs): Promise<PreparedStage> {
  const { renderer, assets, root, requester, signal } = inputs;
  const { chart, valuesTemplate } = await stageFiles(assets.addons, stage);
  try {
    const values = valuesTemplate === undefined ? {} : { values: await expanded(valuesTemplate) };
    return { stage, chart, ...values, digest: digestOf([assets.digest, stage.name, stage.action, values]) };
  } catch (error) {
    signal.throwIfAborted();
    const message = `cannot expand the values of stage ${stage.name} of ${assets.tag}: ${messageOf(error)}`;
    throw new StageError(
      {
        type: 'HelmChartTemplated',
        reason: 'TemplateNewClusterStackOverwriteFailed',
        message,
        afterMs: lookAgain.late,
      },
      { cause: error },
    );
  }

  async function expanded(template: string): Promise<string> {
    const key = digestOf([template, root]);
    const known = inputs.values.get(key);
    if (known !== undefined) return known;
    const values = valuesFrom(await renderer.expand({ template, root, requester }, signal));
    inputs.values.set(key, values, values.length);
    return values;
  }
}

/**
 * Renders a stage twice, so that what is made by chance is known.
 * @throws StageError with the chart's own words.
 */
export async function renderStage(
  { stage, chart, values }: PreparedStage,
  { renderer, assets, requester, signal }: RenderInputs,
  apiVersions: readonly string[],
): Promise<Renderings> {
  const request = {
    ...{ chart, releaseName, namespace: addonNamespace, apiVersions },
    ...{ kubernetesVersion: assets.metadata.kubernetes, requester },
    values,
  };
  const render = (): Promise<readonly Manifest[]> => renderer.render(request, signal);
  try {
    const [first, second] = await Promise.all([render(), render()]);
    return compareRenderings(first, second);
  } catch (error) {
    signal.throwIfAborted();
    const message = `cannot render stage ${stage.name} of ${assets.tag}: ${messageOf(error)}`;
    throw new StageError(
      { type: 'HelmChartTemplated', reason: 'TemplateNewClusterStackFailed', message, afterMs: lookAgain.late },
      { cause: error },
    );
  }
}
