import type { ChaosWorld } from '../world/chaos-world.ts';

/** Whether everything of the tenant is reported to be as its spec says. */
export async function tenantIsReady(world: ChaosWorld): Promise<boolean> {
  if (!(await world.exists())) return false;
  const { metadata, status, spec } = await world.read();
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { version } = status?.kubernetesResources ?? {};
  return (
    ready?.status === 'True' &&
    status?.observedGeneration === metadata.generation &&
    version?.status === 'Ready' &&
    version.version === spec.kubernetes.version
  );
}
