import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { flagName } from '../shared/arguments.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { guardOf } from './guarded-arguments.ts';
import type { Program } from './guarded-arguments.ts';

/** Guarded flags that the operator allows authors to set, as `component:flag`. */
export type AllowedArguments = ReadonlySet<string>;

/** The programs of a control plane, and which of their guarded flags are allowed. */
export interface ArgumentRules {
  readonly programs: readonly Program[];
  readonly allowedArguments: AllowedArguments;
}

/**
 * Refuses arguments that would change what Steward set up for a program. One for which `isStored` is true is allowed: it already
 * runs, and refusing it would block all other changes of the object.
 */
export function validateArguments(
  tcp: TenantControlPlane,
  { programs, allowedArguments }: ArgumentRules,
  isStored: (program: Program, argument: string) => boolean,
): readonly InvalidInput[] {
  return programs.flatMap((program) =>
    program.args(tcp).flatMap((argument, index) => {
      const { component, at } = program;
      const name = flagName(argument);
      const guard = guardOf(program, name, argumentValue([argument], name) ?? '');
      if (guard === undefined || allowedArguments.has(`${component}:${name}`) || isStored(program, argument)) return [];
      return [
        {
          field: `${at}[${index}]`,
          // Values may hold passwords.
          value: `--${name}`,
          reason: guard.why,
          remedy: `${guard.instead}; the operator can allow it with the manager’s flag --allow-extra-args=${component}:${name}`,
        },
      ];
    }),
  );
}
