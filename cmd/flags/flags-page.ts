import { codeInProse } from '../../api/generate/code-in-prose.ts';
import { managerFlags } from './manager-flags.ts';
import { activatorFlags } from './activator-flags.ts';
import { backupFlags, restoreFlags } from './backup-flags.ts';
import { datastoreBootstrapFlags, serverBootstrapFlags } from './datastore-bootstrap-flags.ts';
import type { Flag, Flags } from './flags.ts';
import { variableOf } from './flag-variables.ts';
import { migrateFlags } from './migrate-flags.ts';
import { buildFlags, diffFlags, lintFlags, pushFlags } from '../../clusterstacks/cmd/stack/stack-flags.ts';

/** A command of the binary with its flags, as shown in the reference. */
export interface DocumentedCommand {
  /** What is typed after `steward`. */
  readonly name: string;
  readonly flags: Flags;
  /** Whether each flag can be given as an environment variable, too. */
  readonly hasVariables?: boolean;
}

/** The commands that take flags. */
export const documentedCommands: readonly DocumentedCommand[] = [
  { name: 'manager', flags: managerFlags, hasVariables: true },
  { name: 'datastore-bootstrap etcd', flags: datastoreBootstrapFlags },
  { name: 'datastore-bootstrap postgres|mysql|nats|nats-accounts', flags: serverBootstrapFlags },
  { name: 'activator', flags: activatorFlags },
  { name: 'migrate', flags: migrateFlags },
  { name: 'backup', flags: backupFlags },
  { name: 'restore', flags: restoreFlags },
  { name: 'stack build <folder>', flags: buildFlags },
  { name: 'stack push <folder of a release>', flags: pushFlags },
  { name: 'stack diff <folder>', flags: diffFlags },
  { name: 'stack lint <folder>', flags: lintFlags },
];

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The type of the value that a flag takes, given by its default. */
function kindOf({ value }: Flag): string {
  return { string: 'text', number: 'whole number', boolean: 'switch' }[typeof value as 'string' | 'number' | 'boolean'];
}

function row([name, flag]: readonly [string, Flag]): string {
  const byDefault = flag.value === '' ? 'empty' : `\`${String(flag.value)}\``;
  return `| \`--${name}\` | ${kindOf(flag)} | ${byDefault} | ${cell(codeInProse(flag.help))} |`;
}

const variables = [
  `Each of these flags is also read from an environment variable: \`--log-level\` would be \`${variableOf('log-level')}\`.`,
  'The variable wins, so that `kubectl set env` changes what manifests have set; an empty one counts as not set, and a space is an empty text.',
].join(' ');

/** The reference page of all flags, in Markdown. */
export function flagsPage(commands: readonly DocumentedCommand[]): string {
  const sections = commands.map(({ name, flags, hasVariables = false }) =>
    [
      `## ${codeInProse(`steward ${name}`)}`,
      ...(hasVariables ? [variables] : []),
      ['| Flag | Takes | Default | Meaning |', '| --- | --- | --- | --- |', ...Object.entries(flags).map(row)].join(
        '\n',
      ),
    ].join('\n\n'),
  );
  const intro =
    'Flags are written `--name=value` or `--name value`; a switch without a value means true. An unknown flag is an error.';
  return `${['<!-- Made by `npm run gen`; do not edit. -->', '# Flags', intro, ...sections].join('\n\n')}\n`;
}
