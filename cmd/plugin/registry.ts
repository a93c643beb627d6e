import type { Command } from 'commander';
import { completionCommand } from './commands/completion.ts';
import { createCommand } from './commands/create.ts';
import { datastoreCommand } from './commands/datastore.ts';
import { explainCommand } from './commands/explain.ts';
import { getCommand } from './commands/get.ts';
import { importCommand } from './commands/import.ts';
import { joinCommand } from './commands/join.ts';
import { kubeconfigCommand } from './commands/kubeconfig.ts';
import { migrateCommand } from './commands/migrate.ts';
import { planCommand } from './commands/plan.ts';
import { rotateCommand } from './commands/rotate.ts';
import { sleepCommand } from './commands/sleep.ts';
import { supportBundleCommand } from './commands/support-bundle.ts';
import { upgradeCommand } from './commands/upgrade.ts';
import { versionCommand } from './commands/version.ts';
import { wakeCommand } from './commands/wake.ts';
import type { World } from './frame/world.ts';

/** The commands of the plugin. A new one is a file in `commands/` and a line here. */
export const commands: readonly ((world: World) => Command)[] = [
  completionCommand,
  createCommand,
  datastoreCommand,
  explainCommand,
  getCommand,
  importCommand,
  joinCommand,
  kubeconfigCommand,
  migrateCommand,
  planCommand,
  rotateCommand,
  sleepCommand,
  supportBundleCommand,
  upgradeCommand,
  versionCommand,
  wakeCommand,
];
