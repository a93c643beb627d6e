import { X509Certificate } from 'node:crypto';
import { kinds } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import type { Rotation, RotationSubject } from '../../api/steward/v1alpha1/credentials-rotation.ts';
import { flagOf } from '../builders/flag-of.ts';
import type { TenantWorld } from './tenant-world.ts';

const rootCa = { namespace: 'kube-system', name: 'kube-root-ca.crt' } as const;

/** The values of one of the tenant's Secrets as text. */
export async function secretValues(world: TenantWorld, suffix: string): Promise<Readonly<Record<string, string>>> {
  const data = (await world.secret(suffix))?.data ?? {};
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** The flag of one of the control plane's programs, as its Deployment has it. */
export async function podFlag(world: TenantWorld, container: string, flag: string): Promise<string> {
  const { containers = [] } = (await world.deployment())?.spec?.template.spec ?? {};
  return flagOf(containers.find(({ name }) => name === container)?.args ?? [], flag);
}

/** Publishes in the tenant what kube-controller-manager would: the content of its --root-ca-file. */
export async function publishAuthorities(world: TenantWorld): Promise<void> {
  const file = (await podFlag(world, 'kube-controller-manager', 'root-ca-file')).split('/').at(-1) ?? '';
  const ca = (await secretValues(world, 'ca'))[file] ?? '';
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: rootCa, data: { 'ca.crt': ca } };
  await world.tenant.admin.apply(kinds.ConfigMap, body, { fieldManager: 'kube-controller-manager' });
}

/** Reconciles until nothing changes anymore, while the tenant's own controllers work. */
export async function settleRotation(world: TenantWorld): Promise<void> {
  for (let rounds = 0; rounds < 10; rounds += 1) {
    await world.settle();
    const before = await world.writes();
    await publishAuthorities(world);
    await world.settle();
    if ((await world.writes()) === before) return;
  }
  throw new Error('the rotation does not come to rest');
}

/** Requests an operation, like a person. */
export function ask(world: TenantWorld, operation: string): Promise<void> {
  return world.change({ metadata: { annotations: { [annotations.operation]: operation } } });
}

/** Requests an operation and reconciles until it is complete. */
export async function operate(world: TenantWorld, operation: string): Promise<void> {
  await ask(world, operation);
  await settleRotation(world);
}

/** The rotation in the status. */
export async function rotationOf(
  world: TenantWorld,
  subject: RotationSubject = 'certificateAuthorities',
): Promise<Rotation | undefined> {
  return (await world.read()).status?.certificates?.rotation?.[subject];
}

/** True if a CA of the bundle has signed the first certificate of `pem`. */
export function isTrusted(pem: string, bundle: string): boolean {
  const certificate = new X509Certificate(pem);
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return authorities
    .map((block) => new X509Certificate(block))
    .some((authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey));
}
