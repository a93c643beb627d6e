import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { flagName } from '../components/arguments.ts';
import { argumentValue } from '../components/argument-value.ts';
import { argumentComponents, guardOf } from './guarded-arguments.ts';
import type { ArgumentComponent } from './guarded-arguments.ts';

/** Arguments by program, with the field that they come from. */
export type GivenArguments = Readonly<
  Record<ArgumentComponent, { readonly at: string; readonly args: readonly string[] }>
>;

/** Guarded flags that an administrator lets authors give, as `component:flag`. */
export type AllowedArguments = ReadonlySet<string>;

/** All arguments that the author of a control plane gives to its programs. */
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
 * Arguments by which a program would leave what Steward made for it. One that `isStored` is let pass: it runs already, and refusing
 * it would keep its owner from changing anything else.
 */
export function argumentComplaints(
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
          remedy: `${guard.instead}; an administrator can allow it by the manager’s flag --allow-extra-args=${component}:${name}`,
        },
      ];
    }),
  );
}
