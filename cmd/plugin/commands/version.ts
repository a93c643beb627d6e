import { Command, Option } from 'commander';
import { kinds } from '../../../api/core/kinds.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { withConnection } from '../frame/shared-options.ts';
import type { ConnectionOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { managerLabels } from '../manager-labels.ts';
import { dataText } from '../output/print-objects.ts';
import { version } from '../../version.ts';

const formats = ['text', 'json', 'yaml'] as const;
type Options = ConnectionOptions & { readonly client?: boolean; readonly output: (typeof formats)[number] };

/** `version`: prints versions. */
export function versionCommand(world: World): Command {
  const command = new Command('version')
    .summary('Print the versions of the plugin, the cluster and the manager.')
    .description(
      'Prints the version of the plugin, of Kubernetes in the management cluster, and the images of the managers in it.',
    )
    .option('--client', 'Print only the version of the plugin.')
    .addOption(new Option('-o, --output <format>', 'Format of the output.').choices(formats).default('text'));
  return withConnection(command).action(async (options: Options) => {
    const found = options.client === true ? { plugin: version } : { plugin: version, ...(await inCluster(options)) };
    if (options.output !== 'text') {
      world.out(dataText(found, options.output));
      return;
    }
    world.out(`plugin: ${found.plugin}\n`);
    if (!('kubernetes' in found)) return;
    world.out(`kubernetes: ${found.kubernetes}\n`);
    for (const { namespace, name, image } of found.managers) world.out(`manager: ${image} (${namespace}/${name})\n`);
    if (found.managers.length === 0)
      world.note(`no Deployment with the label ${managerLabels} was found: is Steward installed?`);
  });

  async function inCluster(options: ConnectionOptions) {
    await using management = await connectManagement(world, options);
    const { cluster, signal } = management;
    const [text, deployments] = await Promise.all([
      cluster.text('/version', { signal }),
      cluster.list(kinds.Deployment, { labelSelector: managerLabels, signal }),
    ]);
    const { gitVersion } = JSON.parse(text) as { readonly gitVersion: string };
    const managers = deployments.items.map(({ metadata, spec }) => ({
      namespace: metadata.namespace,
      name: metadata.name,
      image: spec?.template.spec?.containers[0]?.image ?? '',
    }));
    return { kubernetes: gitVersion, managers };
  }
}
