import type { AllowedArguments } from '../../controllers/tenantcontrolplane/workload/validate-arguments.ts';
import type { BoundarySettings } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { programs } from '../../controllers/tenantcontrolplane/addons/programs.ts';
import type { PodSecurityStandard } from '../../controllers/tenantcontrolplane/workload/pod-security/standard.ts';
import {
  parseStandard,
  podSecurityStandards,
} from '../../controllers/tenantcontrolplane/workload/pod-security/standard.ts';
import type { FlagValues } from './flags.ts';
import { UsageError } from './flags.ts';
import type { managerFlags } from './manager-flags.ts';

type Values = Pick<FlagValues<typeof managerFlags>, 'allow-extra-args' | 'default-pod-security-standard'>;

/**
 * The limits for tenant authors that the flags set.
 * @throws UsageError that names the flag, its value and the possible values.
 */
export function readBoundaries(flags: Values): BoundarySettings {
  return {
    defaultStandard: standardFrom(flags['default-pod-security-standard']),
    allowedArguments: argumentsFrom(flags['allow-extra-args']),
  };
}

function standardFrom(text: string): PodSecurityStandard {
  const standard = parseStandard(text);
  if (standard !== undefined) return standard;
  throw new UsageError(`--default-pod-security-standard takes ${podSecurityStandards.join(', ')}, got "${text}"`);
}

function argumentsFrom(list: string): AllowedArguments {
  const items = list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return new Set(items.flatMap(argumentsOf));
}

const argumentComponents = programs.map(({ component }) => component);

function argumentsOf(item: string): readonly string[] {
  const [, of, flag = ''] = /^(?:([A-Za-z]+):)?(?:--)?([a-z0-9][a-z0-9_-]*)$/.exec(item) ?? [];
  const components = of === undefined ? argumentComponents : argumentComponents.filter((known) => known === of);
  if (flag === '' || components.length === 0) {
    throw new UsageError(
      `--allow-extra-args takes component:flag or flag, separated by commas, with a component of ${argumentComponents.join(', ')}, got "${item}"`,
    );
  }
  return components.map((component) => `${component}:${flag.replaceAll('_', '-')}`);
}
