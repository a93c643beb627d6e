import { Argument, Command } from 'commander';
import { kubectlCompletion, shellScript, shells } from '../completion/shell-scripts.ts';
import type { Shell } from '../completion/shell-scripts.ts';
import type { World } from '../frame/world.ts';

/** `completion`: prints what makes a shell complete commands. */
export function completionCommand(world: World): Command {
  return new Command('completion')
    .summary('Print the script that makes a shell complete commands.')
    .description(
      'Prints a script for bash, zsh or fish that completes kubectl-steward; or, with kubectl, the program kubectl_complete-steward, ' +
        'with which kubectl completes "kubectl steward" in every shell.',
    )
    .addArgument(new Argument('<shell>', 'Which script.').choices([...shells, 'kubectl']))
    .action((shell: Shell | 'kubectl') => {
      world.out(shell === 'kubectl' ? kubectlCompletion : shellScript(shell));
    });
}
