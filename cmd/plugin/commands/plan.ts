import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { parseAllDocuments } from 'yaml';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Draft, DraftOf, Resource } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { withConnection, withManager, withOutput } from '../frame/shared-options.ts';
import type { ConnectionOptions, ManagerOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { dataText } from '../output/print-objects.ts';
import { appliedManifest } from '../plan/applied-manifest.ts';
import { planChange } from '../plan/plan-change.ts';
import { planControlPlane } from '../plan/plan-control-plane.ts';
import type { Plan } from '../plan/plan-result.ts';
import { readPlanSettings } from '../plan/read-plan-settings.ts';
import { renderPlan } from '../plan/render-plan.ts';

type Options = ConnectionOptions &
  ManagerOptions & { readonly filename: string; readonly output: 'table' | 'json' | 'yaml' };

const planned = [tenantControlPlane, stewardControlPlane] as const;

/** `plan`: says what a changed manifest would do. */
export function planCommand(world: World): Command {
  const command = new Command('plan')
    .summary('Say what a changed manifest would do.')
    .description(
      'Shows what applying a manifest would create, change and delete, whether pods are replaced and why, what holds an upgrade, and what ' +
        'would be refused. It only reads. Exits with 1 if the manifest would be refused.',
    )
    .requiredOption(
      '-f, --filename <file>',
      'File with TenantControlPlanes and StewardControlPlanes; - for the standard input.',
    );
  return withOutput(withManager(withConnection(command)), ['table', 'json', 'yaml']).action(
    async (options: Options) => {
      const { filename, output, managerNamespace } = options;
      const manifests = manifestsIn(await contentOf(filename));
      await using management = await connectManagement(world, options);
      const { cluster, signal, namespace } = management;
      const reader = clusterReader(cluster, signal);
      const { settings, note } = await readPlanSettings(reader, managerNamespace);
      if (note !== undefined) world.note(note);
      const plans: Plan[] = [];
      for (const manifest of manifests) {
        const placed = { ...manifest, metadata: { namespace, ...manifest.metadata } };
        plans.push(await planOf(placed, { reader, settings, now: world.clock.now() }));
      }
      world.out(output === 'table' ? plans.map(renderPlan).join('\n') : dataText(asList(plans), output));
      const refused = plans.filter((plan) => plan.refused !== undefined);
      if (refused.length > 0)
        throw new PluginError(
          `${refused.map(({ kind, name }) => `${kind} ${name}`).join(', ')} would be refused`,
          exitCodes.failed,
        );
    },
  );
}

async function contentOf(filename: string): Promise<string> {
  try {
    return filename === '-' ? await text(process.stdin) : await readFile(filename, 'utf8');
  } catch (error) {
    throw new PluginError(`${filename} cannot be read: ${describeFailure(error)}`, exitCodes.usage);
  }
}

const asList = (plans: readonly Plan[]): unknown => (plans.length === 1 ? plans[0] : plans);

/** The control planes in a file. Other objects, such as the Cluster beside them, are left out. */
function manifestsIn(content: string): readonly Draft[] {
  const documents = parseAllDocuments(content);
  const broken = documents.flatMap(({ errors }) => errors)[0];
  if (broken !== undefined) throw new PluginError(`the manifest is not valid YAML: ${broken.message}`, exitCodes.usage);
  const objects = documents.map((document) => document.toJS() as Draft | null).filter((object) => object !== null);
  const found = objects.filter((object) => planned.some(({ kind }) => kind === object.kind));
  if (found.length === 0)
    throw new PluginError(
      `there is no ${planned.map(({ kind }) => kind).join(' or ')} in the manifest: others cannot be planned`,
      exitCodes.usage,
    );
  return found;
}

async function planOf(manifest: Draft, input: Omit<Parameters<typeof planChange>[0], 'changed'>): Promise<Plan> {
  const { namespace = '', name = '' } = manifest.metadata;
  const applied = async (kind: (typeof planned)[number]): Promise<unknown> =>
    appliedManifest<Draft>(await input.reader.read<Resource>(kind, { namespace, name }), manifest);
  // The schema is checked where admission is.
  return manifest.kind === tenantControlPlane.kind
    ? planChange({ ...input, changed: (await applied(tenantControlPlane)) as DraftOf<TenantControlPlane> })
    : planControlPlane({ ...input, changed: (await applied(stewardControlPlane)) as DraftOf<StewardControlPlane> });
}
