import { version } from '../version.ts';
import { activatorFlags } from './activator-flags.ts';
import { backupFlags, restoreFlags } from './backup-flags.ts';
import { datastoreBootstrapFlags } from './datastore-bootstrap-flags.ts';
import { describeFlags } from './flags.ts';
import { managerFlags } from './manager-flags.ts';
import { migrateFlags } from './migrate-flags.ts';

/** What `steward --help` prints. */
export const usage = `steward ${version}: hosted Kubernetes control planes

Usage: steward <command> [flags]

  manager               runs the controllers and the admission webhooks (the default command)
  datastore-bootstrap   etcd, postgres, mysql, nats or nats-accounts: creates the certificates and the administrator of config/datastores
  activator             holds the first calls of control planes that sleep, and has them woken up
  migrate               copies a tenant's data to another DataStore; the manager runs it in Jobs
  backup                saves the data, CAs and keys of a control plane, once or all the time
  restore               restores a control plane from its backups
  kubectl               the commands of kubectl steward, for people: get, create, upgrade …; see steward kubectl --help
  stack                 build, push, diff or lint: releases of cluster stacks; see steward stack --help
  version               prints the version

Flags of manager:
${describeFlags(managerFlags)}

Flags of datastore-bootstrap (--members for etcd only):
${describeFlags(datastoreBootstrapFlags)}

Flags of activator:
${describeFlags(activatorFlags)}

Flags of migrate:
${describeFlags(migrateFlags)}

Flags of backup:
${describeFlags(backupFlags)}

Flags of restore:
${describeFlags(restoreFlags)}`;
