import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddonAssets } from '../../../sources/release-assets.ts';
import type { AddonStage, ClusterAddonConfig } from '../../../sources/cluster-addon-config.ts';
import { StageError, lookAgain } from '../stage-error.ts';

/** What one stage is rendered from. */
export interface StageFiles {
  readonly chart: string;
  /** A Go template of its values; absent: the chart's own values. */
  readonly valuesTemplate?: string;
}

/** Releases without stages have one chart, which is applied like a stage of this name. */
const onlyStage = { name: 'cluster-addon', action: 'apply' } as const satisfies AddonStage;

/** The stages of a release's hooks. */
export function configOf(addons: AddonAssets | undefined): ClusterAddonConfig {
  if (addons === undefined) return { stages: {} };
  if (addons.mode === 'stages') return addons.config;
  return { stages: { AfterControlPlaneInitialized: [onlyStage], BeforeClusterUpgrade: [onlyStage] } };
}

/**
 * Finds the chart of a stage, and reads its values template.
 * @throws StageError when there is none: a stage that is left out would count as done.
 */
export async function stageFiles(addons: AddonAssets | undefined, stage: AddonStage): Promise<StageFiles> {
  if (addons?.mode === 'single-chart') {
    const { chart, valuesTemplate } = addons;
    return { chart, valuesTemplate: valuesTemplate && (await textOf(valuesTemplate)) };
  }
  const folder = addons === undefined || !isFolderName(stage.name) ? undefined : join(addons.folder, stage.name);
  if (folder === undefined || !(await isThere(folder))) {
    const message = `the release has no chart for stage ${stage.name}: its add-ons have no folder with this name`;
    throw new StageError({ type: 'HelmChartFound', reason: 'HelmChartMissing', message, afterMs: lookAgain.late });
  }
  return { chart: folder, valuesTemplate: await textOf(join(folder, 'overwrite.yaml')) };
}

/** Nothing that leads out of the release. */
function isFolderName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(noneIfAbsent)) !== undefined;
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(noneIfAbsent);
}

function noneIfAbsent(error: unknown): undefined {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
