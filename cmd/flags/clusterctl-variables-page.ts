import { codeInProse } from '../../api/generate/code-in-prose.ts';
import { clusterctlVariables } from './clusterctl-variables.ts';
import type { ClusterctlVariable } from './clusterctl-variables.ts';

const intro = `# Variables of clusterctl

\`clusterctl init\`, \`upgrade\` and \`generate provider\` put these variables into Steward's components. They come from the
environment or from [clusterctl's configuration](../../how-to/install-with-clusterctl.md#settings). Keep them there: an
upgrade reads them again. All but the last two are [flags](flags.md) of the manager. A variable that is set to a space empties a text.`;

const row = ({ name, byDefault, meaning }: ClusterctlVariable): string =>
  `| \`${name}\` | ${byDefault === '' ? 'empty' : `\`${byDefault}\``} | ${codeInProse(meaning).replaceAll('|', '\\|')} |`;

/** The reference page of the variables, in Markdown. */
export function clusterctlVariablesPage(): string {
  const table = ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...clusterctlVariables.map(row)].join('\n');
  return `${['<!-- Made by `npm run gen`; do not edit. -->', intro, table].join('\n\n')}\n`;
}
