import { Command, Option } from 'commander';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { dataStoreRow } from '../datastore/data-store-row.ts';
import type { DataStoreRow } from '../datastore/data-store-row.ts';
import { drainProgress } from '../datastore/drain-progress.ts';
import { verifyDataStore } from '../datastore/verify-data-store.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { listed, wholeNumber, withConnection, withOutput, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, OutputFormat, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';
import { age } from '../output/age.ts';
import { dataText, objectsText } from '../output/print-objects.ts';
import { table } from '../output/table.ts';
import type { TableColumn } from '../output/table.ts';

type ListOptions = ConnectionOptions & { readonly output: OutputFormat };
type VerifyOptions = ConnectionOptions & { readonly output: 'table' | 'json' | 'yaml' };
type DrainOptions = ConnectionOptions &
  WaitOptions & {
    readonly keep: number;
    readonly targetLabels?: readonly string[];
    readonly removeCopies?: boolean;
    readonly end?: boolean;
  };

const columns = (now: Date): readonly TableColumn<DataStoreRow>[] => [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'DRIVER', value: ({ driver }) => driver },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'TENANTS', value: ({ tenants }) => tenants },
  { title: 'AVAILABLE', value: ({ available }) => available },
  { title: 'SIZE', value: ({ size }) => size },
  { title: 'READY', value: ({ ready }) => ready, tone: ({ ready }) => (ready === 'True' ? 'good' : 'bad') },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'AGE', value: ({ created }) => age(created, now) },
  { title: 'DRAIN', wide: true, value: ({ drain }) => drain },
];

/** `datastore`: lists, checks and drains DataStores. */
export function datastoreCommand(world: World): Command {
  return new Command('datastore')
    .alias('ds')
    .summary('List, check or drain DataStores.')
    .description('Lists, checks or drains the DataStores that hold the data of control planes.')
    .addCommand(listCommand(world))
    .addCommand(verifyCommand(world))
    .addCommand(drainCommand(world));
}

function listCommand(world: World): Command {
  const command = new Command('ls')
    .alias('list')
    .summary('List DataStores.')
    .description('Lists DataStores with the number of control planes whose data they hold.')
    .argument('[name]', 'Name of a DataStore.');
  return withOutput(withConnection(command)).action(async (name: string | undefined, options: ListOptions) => {
    await using management = await connectManagement(world, options);
    const { cluster, signal } = management;
    const stores =
      name === undefined ? (await cluster.list(dataStore, { signal })).items : [await requireStore(name, management)];
    if (options.output !== 'table' && options.output !== 'wide') {
      world.out(objectsText(stores, options.output, name === undefined));
      return;
    }
    if (stores.length === 0) {
      world.note('no DataStores found');
      return;
    }
    const shown = { wide: options.output === 'wide', colors: world.colors };
    world.out(table(stores.map(dataStoreRow), columns(world.clock.now()), shown));
  });
}

function verifyCommand(world: World): Command {
  const command = new Command('verify')
    .summary('Check that a DataStore can be used.')
    .description(
      'Shows what the manager reports about this DataStore, to which it connects every 15 seconds, and exits with 1 if something is wrong.',
    )
    .argument('<name>', 'Name of the DataStore.');
  return withOutput(withConnection(command), ['table', 'json', 'yaml']).action(
    async (name: string, options: VerifyOptions) => {
      await using management = await connectManagement(world, options);
      const checks = verifyDataStore(await requireStore(name, management));
      world.out(
        options.output === 'table'
          ? table(
              checks,
              [
                { title: 'CHECK', value: ({ check }) => check },
                { title: 'OK', value: ({ ok }) => (ok ? 'yes' : 'no'), tone: ({ ok }) => (ok ? 'good' : 'bad') },
                { title: 'DETAIL', value: ({ detail }) => detail },
              ],
              { wide: false, colors: world.colors },
            )
          : dataText({ name, checks }, options.output),
      );
      const wrong = checks.filter(({ ok }) => !ok).map(({ check }) => check);
      if (wrong.length > 0)
        throw new PluginError(`DataStore ${name} has conditions that need attention: ${wrong.join(', ')}`);
    },
  );
}

function drainCommand(world: World): Command {
  const command = new Command('drain')
    .summary('Migrate the control planes of a DataStore to others.')
    .description(
      'Sets spec.drain of the DataStore and shows the progress. Control planes are migrated one after the other while they are in use, ' +
        'and no new one is placed in the DataStore until --end.',
    )
    .argument('<name>', 'Name of the DataStore.')
    .option('--keep <number>', 'Number of control planes that stay.', wholeNumber(0), 0)
    .option('--target-labels <labels>', 'Labels, such as tier=fast, that the other DataStores must have.', listed)
    .option('--remove-copies', 'Remove the copies of data that migrations leave behind.')
    .addOption(
      new Option('--end', 'End the drain: the DataStore is used for new control planes again.').conflicts(['keep']),
    );
  return withWait(withConnection(command, '2h')).action(async (name: string, options: DrainOptions) => {
    await using management = await connectManagement(world, options);
    const { cluster, signal } = management;
    await requireStore(name, management);
    const drain = options.end === true ? null : drainOf(options);
    const body = { spec: { drain } };
    await cluster.patch(dataStore, { name }, { type: 'merge', body }, { fieldManager: pluginFieldManager, signal });
    world.note(`DataStore ${name} ${drain === null ? 'is no longer drained' : 'will be drained'}`);
    if (drain === null || !options.wait) return;
    await followObject(dataStore, { name }, drainProgress, { management, world });
  });
}

function drainOf({ keep, targetLabels, removeCopies }: DrainOptions): Readonly<Record<string, unknown>> {
  const pairs = (targetLabels ?? []).map((label) => {
    const [key = '', value] = label.split('=');
    if (key === '' || value === undefined) {
      throw new PluginError(`--target-labels: "${label}" is not key=value`, exitCodes.usage);
    }
    return [key, value] as const;
  });
  return {
    keep,
    ...(pairs.length > 0 && { targetSelector: { matchLabels: Object.fromEntries(pairs) } }),
    ...(removeCopies === true && { previousCopies: 'Remove' }),
  };
}

async function requireStore(name: string, { cluster, signal }: ManagementCluster): Promise<DataStore> {
  const store = await cluster.get(dataStore, { name }, { signal });
  if (store !== undefined) return store;
  throw new PluginError(`there is no DataStore "${name}"; kubectl steward datastore ls lists all`, exitCodes.absent);
}
