import { measuredOn } from './measured-on.ts';
import type { Recorded } from './recorded.ts';

const introduction = `# Benchmarks

What was measured, each with its commit, day, command and machine. The raw samples are in [bench/results](../../bench/results).
[bench/README.md](../../bench/README.md) says how each benchmark works, and \`npm run bench -- --help\` how to run it.

Seconds depend on the machine. What travels is the ratio to a floor that was measured in the same run: the same pods, or
the same steps, by hand. Medians have the worst case in parentheses.`;

/** The page of all committed results. */
export function benchmarksPage(recorded: readonly Recorded[]): string {
  const sections = recorded.map(({ presentation, result }) =>
    [
      `## ${presentation.title}`,
      presentation.report(result.rows),
      `${measuredOn(result)} Result: [${result.bench}.json](../../bench/results/${result.bench}.json).`,
    ].join('\n\n'),
  );
  const made = '<!-- Made by `npm run gen` from bench/results; do not edit. -->';
  return `${[made, introduction, ...sections].join('\n\n')}\n`;
}
