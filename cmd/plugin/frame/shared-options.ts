import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { goDuration } from '../../../api/go-duration.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';

/** How the management cluster is reached, and for how long a command may take. */
export interface ConnectionOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** In milliseconds. */
  readonly timeout: number;
}

/** The formats in which objects are printed. */
export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface OutputOptions {
  readonly output: OutputFormat;
}

export interface WaitOptions {
  readonly wait: boolean;
}

const connectionGroup = 'Connection:';

/** Parses a Go duration for an option. */
export function durationMs(text: string): number {
  try {
    return goDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(describeFailure(error));
  }
}

/** A parser of whole numbers from `least` on. */
export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`use a whole number from ${least} on.`);
    }
    return value;
  };

/** Parses a time with a time zone for an option, into RFC 3339 in UTC. */
export function timeText(text: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = Date.parse(text);
  if (!isTime || Number.isNaN(time)) throw new InvalidArgumentError('use a time such as 2030-01-01T07:00:00Z.');
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Collects the values of an option that may be repeated, or that names several, separated by commas. */
export function listed(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').map((word) => word.trim())].filter((word) => word !== '');
}

/** Adds the options of a command that uses the management cluster. */
export function withConnection(command: Command, timeout = '30s'): Command {
  return command
    .addOption(
      new Option('-n, --namespace <namespace>', 'Namespace. Defaults to that of the context.').helpGroup(
        connectionGroup,
      ),
    )
    .addOption(new Option('--context <name>', 'Context of the kubeconfig.').helpGroup(connectionGroup))
    .addOption(
      new Option(
        '--kubeconfig <path>',
        'Path of the kubeconfig. Defaults to $KUBECONFIG, then to ~/.kube/config.',
      ).helpGroup(connectionGroup),
    )
    .addOption(
      new Option('--timeout <duration>', 'Longest duration of the command, such as 90s or 10m.')
        .argParser(durationMs)
        .default(goDuration(timeout), timeout)
        .helpGroup(connectionGroup),
    );
}

/** Where the managers of Steward run. */
export interface ManagerOptions {
  readonly managerNamespace: string;
}

/** Adds the option that says where the managers run. */
export function withManager(command: Command): Command {
  return command.option('--manager-namespace <namespace>', 'Namespace of the manager.', 'steward-system');
}

/** Adds the option that chooses how objects are printed. */
export function withOutput(command: Command, formats: readonly OutputFormat[] = outputFormats): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'Format of the output.').choices(formats).default(formats[0] ?? 'table'),
  );
}

/** Adds the switch that makes a command return as soon as the change is requested. */
export function withWait(command: Command): Command {
  return command
    .option('--wait', 'Show the progress until the change is complete.', true)
    .option('--no-wait', 'Return as soon as the change is requested. Same as --wait=false.');
}
