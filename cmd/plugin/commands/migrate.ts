import { Command } from 'commander';
import { annotations } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { changeControlPlane } from '../control-plane/change-control-plane.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { migrationProgress } from '../control-plane/migration-progress.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';

type Options = ConnectionOptions & WaitOptions & { readonly to: string; readonly retry?: boolean };

/** `migrate`: moves the data to another DataStore. */
export function migrateCommand(world: World): Command {
  const command = new Command('migrate')
    .summary('Migrate the data of a control plane to another DataStore.')
    .description(
      'Sets the DataStore of the TenantControlPlane, or of the StewardControlPlane that owns it, and shows the progress. The control ' +
        'plane stays in use; writes are denied for a few seconds at the end.',
    )
    .argument('<name>', 'Name of the control plane.')
    .requiredOption('--to <datastore>', 'Name of the DataStore to migrate to.')
    .option('--retry', 'Try a failed migration again.');
  return withWait(withConnection(command, '1h')).action(async (name: string, options: Options) => {
    await using management = await connectManagement(world, options);
    const plane = await findControlPlane(name, management);
    const { to } = options;
    if ((await management.cluster.get(dataStore, { name: to }, { signal: management.signal })) === undefined) {
      throw new PluginError(`there is no DataStore "${to}"; kubectl steward datastore ls lists all`, exitCodes.absent);
    }
    const earlier = plane.tenant?.status?.storage?.migration;
    const isAsked = plane.tenant?.spec.dataStore === to && earlier?.target.dataStoreName === to;
    if (isAsked && earlier.phase === 'Failed' && options.retry !== true) {
      throw new PluginError(
        `the migration to ${to} failed: ${earlier.message ?? 'no reason was reported'}; --retry tries it again`,
      );
    }
    const retry = options.retry === true && {
      metadata: { annotations: { [annotations.retryMigration]: world.clock.now().toISOString() } },
    };
    const changed = await changeControlPlane(
      plane,
      {
        tenant: { ...retry, spec: { dataStore: to } },
        parent: { ...retry, spec: { dataStoreName: to } },
        topology: () =>
          `change spec.template.spec.dataStoreName of the StewardControlPlaneTemplate that its ClusterClass names, or the variable of spec.topology.variables that sets it`,
      },
      management,
    );
    world.note(`${changed} will have its data in ${to}`);
    if (!options.wait || plane.tenant === undefined) return;
    const wanted = { to, earlier: earlier?.startedAt };
    const progress = migrationProgress.bind(undefined, wanted);
    await followObject(tenantControlPlane, plane.tenant.metadata, progress, { management, world });
  });
}
