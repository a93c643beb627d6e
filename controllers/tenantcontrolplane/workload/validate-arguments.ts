import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { flagName } from '../shared/arguments.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { argumentComponents, guardOf } from './guarded-arguments.ts';
import type { ArgumentComponent } from './guarded-arguments.ts';

/** Arguments by program, with the field that they come from. */
export type GivenArguments = Readonly<
  Record<ArgumentComponent, { readonly at: string; readonly args: readonly string[] }>
>;

/** Guarded flags that the operator allows authors to set, as `component:flag`. */
export type AllowedArguments = ReadonlySet<string>;

/** All arguments that the author of a control plane sets for its programs. */
export function givenArguments({ spec }: TenantControlPlane): GivenArguments {
  const { extraArgs = {} } = spec.controlPlane.deployment;
  const { konnectivity } = spec.addons;
  const of = (component: keyof typeof extraArgs) => ({
    at: `spec.controlPlane.deployment.extraArgs.${component}`,
    args: extraArgs[component] ?? [],
  });
  return {
    apiServer: of('apiServer'),
    controllerManager: of('controllerManager'),
    scheduler: of('scheduler'),
    kine: of('kine'),
    konnectivityServer: {
      at: 'spec.addons.konnectivity.server.extraArgs',
      args: konnectivity?.server.extraArgs ?? [],
    },
    konnectivityAgent: { at: 'spec.addons.konnectivity.agent.extraArgs', args: konnectivity?.agent.extraArgs ?? [] },
  };
}

/**
 * Refuses arguments that would change what Steward set up for a program. One for which `isStored` is true is allowed: it already
 * runs, and refusing it would block all other changes of the object.
 */
export function validateArguments(
  given: GivenArguments,
  allowed: AllowedArguments,
  isStored: (component: ArgumentComponent, argument: string) => boolean = () => false,
): readonly InvalidInput[] {
  return argumentComponents.flatMap((component) =>
    given[component].args.flatMap((argument, index) => {
      const name = flagName(argument);
      const guard = guardOf(component, name, argumentValue([argument], name) ?? '');
      if (guard === undefined || allowed.has(`${component}:${name}`) || isStored(component, argument)) return [];
      return [
        {
          field: `${given[component].at}[${index}]`,
          // Values may hold passwords.
          value: `--${name}`,
          reason: guard.why,
          remedy: `${guard.instead}; the operator can allow it with the manager’s flag --allow-extra-args=${component}:${name}`,
        },
      ];
    }),
  );
}
