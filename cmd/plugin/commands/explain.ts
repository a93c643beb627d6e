import { Command } from 'commander';
import { connectManagement } from '../connect/management-cluster.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { explain } from '../explain/explain.ts';
import { readSituation } from '../explain/read-situation.ts';
import { renderExplanation } from '../explain/render-explanation.ts';
import { withConnection, withManager, withOutput } from '../frame/shared-options.ts';
import type { ConnectionOptions, ManagerOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { dataText } from '../output/print-objects.ts';

type Options = ConnectionOptions & ManagerOptions & { readonly output: 'table' | 'json' | 'yaml' };

/** `explain`: says why a control plane is as it is. */
export function explainCommand(world: World): Command {
  const command = new Command('explain')
    .summary('Say why a control plane is as it is, and what to do.')
    .description(
      'Shows which steps are done, the one cause that explains the others, since when, how to fix it, and what happened last. It only reads.',
    )
    .argument('<name>', 'Name of a control plane.');
  return withOutput(withManager(withConnection(command)), ['table', 'json', 'yaml']).action(
    async (given: string, options: Options) => {
      await using management = await connectManagement(world, options);
      const { cluster, signal } = management;
      const { namespace, name } = await findControlPlane(given, management);
      const { managerNamespace } = options;
      const now = world.clock.now();
      const reader = clusterReader(cluster, signal);
      const explanation = explain(await readSituation(reader, { namespace, name, now, managerNamespace }));
      const { output } = options;
      world.out(output === 'table' ? renderExplanation(explanation, now) : dataText(explanation, output));
    },
  );
}
