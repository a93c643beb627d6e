import { runCommand } from '../cluster/machines/run-command.ts';

/** Where results are written: an earlier one that is not committed yet changes nothing that is measured. */
const results = [
  'bench/results',
  'docs/reference',
  'README.md',
  'e2e/conformance/results.json',
  'e2e/minors/results.json',
];

/** The commit of these sources; ends in `-dirty` when files other than results differ from it. */
export async function measuredCommit(): Promise<string> {
  const git = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await runCommand('git', args, { cwd: import.meta.dirname });
    return stdout.trim();
  };
  const commit = await git('rev-parse', '--short=7', 'HEAD');
  const changed = await git('status', '--porcelain', '--', ':/', ...results.map((file) => `:(top,exclude)${file}`));
  return changed === '' ? commit : `${commit}-dirty`;
}
