import { Command, Option } from 'commander';
import { connectManagement } from '../connect/management-cluster.ts';
import { withConnection, withManager, withOutput } from '../frame/shared-options.ts';
import type { ConnectionOptions, ManagerOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { goWay } from '../import/go-way.ts';
import { importSources } from '../import/import-report.ts';
import type { ImportSource } from '../import/import-report.ts';
import { kamajiWay } from '../import/kamaji-way.ts';
import { takeOver } from '../import/take-over.ts';

type Options = ConnectionOptions &
  ManagerOptions & {
    readonly from: ImportSource;
    readonly datastore?: string;
    readonly dryRun?: boolean;
    readonly undo?: boolean;
    readonly yes?: boolean;
    readonly output: 'table' | 'json' | 'yaml';
  };

/** `import`: takes over running control planes. */
export function importCommand(world: World): Command {
  const command = new Command('import')
    .summary('Take over a running control plane of Kamaji or of the Go Steward.')
    .description(
      'Takes over a control plane with its CA, keys, data and endpoint. Its pods are replaced by those of Steward behind the same Service; ' +
        'workers and kubeconfigs stay valid. It checks, shows what it will do with --dry-run, and asks. A command that was stopped is run ' +
        'again and goes on where it was. --undo goes back, as long as the former pods run (Kamaji), or until Steward is installed (Go Steward).',
    )
    .argument('<name>', 'Name of the TenantControlPlane.')
    .addOption(
      new Option('--from <source>', 'What manages the control plane now.').choices(importSources).makeOptionMandatory(),
    )
    .option(
      '--datastore <name>',
      'DataStore of Steward that has the data. Defaults to one of the same name, which is created. Only from Kamaji.',
    )
    .option('--dry-run', 'Check, and show what would be done.')
    .option('--undo', 'Go back.')
    .option('-y, --yes', 'Do not ask.');
  return withOutput(withManager(withConnection(command, '30m')), ['table', 'json', 'yaml']).action(
    async (given: string, options: Options) => {
      const { from, datastore, managerNamespace, dryRun = false, undo = false, yes = false, output } = options;
      await using management = await connectManagement(world, options);
      const name = given.replace(/^[a-z.]+\//, '');
      const request = { from, name, dryRun, undo, yes, output };
      const means = { world, management };
      if (from === 'kamaji') await takeOver(request, kamajiWay({ name, datastore }, world, management), means);
      else await takeOver(request, goWay({ name, managerNamespace }, world, management), means);
    },
  );
}
