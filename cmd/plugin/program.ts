import { Command, CommanderError } from 'commander';
import { complete } from './completion/complete.ts';
import { commands } from './registry.ts';
import { exitCodes } from './frame/exit-codes.ts';
import type { ExitCode } from './frame/exit-codes.ts';
import { explainError } from './frame/explain-error.ts';
import { switchValues } from './frame/switch-values.ts';
import type { World } from './frame/world.ts';

/** What is typed before a command. */
export const pluginName = 'kubectl steward';

/** All commands of the plugin, as the command library knows them. */
export function pluginProgram(world: World): Command {
  const program = new Command(pluginName)
    .description('Works with the control planes of Steward: TenantControlPlanes, StewardControlPlanes and DataStores.')
    .usage('<command> [flags]')
    .helpOption('-h, --help', 'Show what the command does and takes.')
    .helpCommand('help [command]', 'Show what a command does and takes.')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: true })
    .configureOutput({
      writeOut: world.out,
      writeErr: (text) => {
        world.note(text.trimEnd());
      },
      outputError: (text, write) => {
        write(`${text.trim().replace(/^error: /, `${pluginName}: `)}\n`);
      },
      getOutHasColors: () => world.colors,
      getErrHasColors: () => false,
    })
    .showHelpAfterError(`(--help shows what the command takes)`)
    .exitOverride();
  for (const make of commands) program.addCommand(inherit(make(world), program));
  return program;
}

/** Commands that are made apart from their parent do not get its settings by themselves. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).helpOption('-h, --help', 'Show what the command does and takes.');
  for (const child of command.commands) inherit(child, command);
  return command;
}

/** Runs the plugin. Every failure is explained on the standard error. */
export async function runPlugin(args: readonly string[], world: World): Promise<ExitCode> {
  const program = pluginProgram(world);
  try {
    const [first, ...words] = args;
    if (first === '__complete') {
      world.out(await complete(program, words, world));
      return exitCodes.ok;
    }
    await program.parseAsync(args.length === 0 ? ['help'] : [...switchValues(program, args)], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (world.signal.aborted && error === world.signal.reason) {
      world.note(`${pluginName}: interrupted; what was requested stays requested`);
      return exitCodes.interrupted;
    }
    const explained = explainError(error);
    if (explained === undefined) throw error;
    world.note(`${pluginName}: ${explained.message}`);
    return explained.exitCode;
  }
}
