import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';

/** The objects of a finished control plane, ready to be applied by hand somewhere else. */
export interface CapturedTenant {
  /** Everything that its pods mount, and its kubeconfigs. */
  readonly secrets: readonly PlainObject[];
  readonly service: PlainObject;
  readonly deployment: PlainObject;
  readonly clusterIp: string;
  /** Where its API server keeps its keys in etcd. */
  readonly prefix: string;
  /** etcd's members, as kube-apiserver takes them. */
  readonly servers: string;
}

interface PodTemplate {
  readonly template?: { readonly spec?: { readonly containers?: readonly { readonly args?: readonly string[] }[] } };
}

/**
 * Strips what only the API server, the controllers and Steward know of the objects of one control plane: metadata but the
 * name, status, owners. The Service keeps its address, because certificates name it.
 * @throws Error when the objects are not one Service, one Deployment that uses etcd, and Secrets.
 */
export function captureTenant(objects: readonly PlainObject[], namespace: string): CapturedTenant {
  const ofKind = (kind: string): readonly PlainObject[] => objects.filter((object) => object.kind === kind);
  const only = (kind: string): PlainObject => {
    const [found, more] = ofKind(kind);
    if (found === undefined || more !== undefined)
      throw new Error(`a control plane has one ${kind}, found were ${ofKind(kind).length}`);
    return found;
  };
  const [service, deployment] = [only('Service'), only('Deployment')];
  const clusterIp = service.spec?.clusterIP;
  const prefix = flagOf(deployment, 'etcd-prefix');
  const servers = flagOf(deployment, 'etcd-servers');
  if (typeof clusterIp !== 'string' || prefix === undefined || servers === undefined) {
    throw new Error('the Service needs a clusterIP and kube-apiserver the flags --etcd-prefix and --etcd-servers');
  }
  return {
    secrets: ofKind('Secret').map((secret) => stripped(secret, namespace)),
    service: stripped(service, namespace),
    deployment: stripped(deployment, namespace),
    clusterIp,
    prefix,
    servers,
  };
}

/** The value of a flag of the containers of a Deployment, such as `etcd-prefix`; undefined when none has it. */
export function flagOf(deployment: PlainObject, flag: string): string | undefined {
  const { template } = (deployment.spec ?? {}) as PodTemplate;
  const args = template?.spec?.containers?.flatMap((container) => container.args ?? []) ?? [];
  return args.find((arg) => arg.startsWith(`--${flag}=`))?.slice(`--${flag}=`.length);
}

function stripped(object: PlainObject, namespace: string): PlainObject {
  const kept = Object.entries(object).filter(([field]) => field !== 'status');
  return { ...Object.fromEntries(kept), metadata: { name: object.metadata?.name ?? '', namespace } };
}
