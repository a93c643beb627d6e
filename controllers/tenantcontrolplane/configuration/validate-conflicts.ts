import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { flagName } from '../shared/arguments.ts';

const at = 'spec.kubernetes';
const argumentsAt = 'spec.controlPlane.deployment.extraArgs.apiServer';

/** The flags of kube-apiserver that each field stands for; a name may end with `*`. */
const flagsOf = {
  authentication: ['authentication-config', 'oidc-*'],
  authorization: ['authorization-*'],
  audit: ['audit-*'],
  admission: ['admission-control-config-file'],
} as const satisfies Partial<Readonly<Record<keyof TenantControlPlane['spec']['kubernetes'], readonly string[]>>>;

const means = (flag: string, name: string): boolean =>
  flag.endsWith('*') ? name.startsWith(flag.slice(0, -1)) : name === flag;

type Part = keyof typeof flagsOf;

/** Plugins that a flag switches off although the spec configures them. */
function validatePlugins({ spec }: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { podSecurity, eventRateLimit } = spec.kubernetes.admission ?? {};
  const given = spec.controlPlane.deployment.extraArgs?.apiServer;
  const listed = (flag: string): readonly string[] | undefined =>
    argumentValue(given, flag)
      ?.split(',')
      .map((name) => name.trim());
  const index = (flag: string): number => given?.findLastIndex((one) => flagName(one) === flag) ?? 0;
  const refusal = (flag: string, plugin: string, reason: string): InvalidInput => ({
    field: `${argumentsAt}[${index(flag)}]`,
    value: `--${flag}`,
    reason: `${reason} the plugin ${plugin}, which ${at}.admission configures`,
    remedy: 'remove one of the two',
  });
  const disabled = listed('disable-admission-plugins') ?? [];
  const enabled = listed('enable-admission-plugins');
  return [
    ...(podSecurity !== undefined && disabled.includes('PodSecurity')
      ? [refusal('disable-admission-plugins', 'PodSecurity', 'disables')]
      : []),
    ...(eventRateLimit !== undefined && disabled.includes('EventRateLimit')
      ? [refusal('disable-admission-plugins', 'EventRateLimit', 'disables')]
      : []),
    ...(eventRateLimit !== undefined && enabled !== undefined && !enabled.includes('EventRateLimit')
      ? [refusal('enable-admission-plugins', 'EventRateLimit', 'does not name')]
      : []),
  ];
}

/** Arguments of kube-apiserver that say the same as a field, or the opposite of it. */
export function validateConflicts(tcp: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { kubernetes, controlPlane } = tcp.spec;
  const given = controlPlane.deployment.extraArgs?.apiServer ?? [];
  const parts = (Object.keys(flagsOf) as readonly Part[]).filter((part) => kubernetes[part] !== undefined);
  const conflicts = given.flatMap((argument, index) => {
    const name = flagName(argument);
    return parts
      .filter((part) => flagsOf[part].some((flag) => means(flag, name)))
      .map((part) => ({
        field: `${argumentsAt}[${index}]`,
        // Values may hold passwords.
        value: `--${name}`,
        reason: `cannot be set together with ${at}.${part}`,
        remedy: `remove one of the two; what the argument says can be said in ${at}.${part}`,
      }));
  });
  return [...conflicts, ...validatePlugins(tcp)];
}
