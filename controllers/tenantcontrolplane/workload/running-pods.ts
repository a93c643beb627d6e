import { isDeepStrictEqual } from 'node:util';
import type { Deployment } from '../../../api/core/kinds.ts';
import { containers as names } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Container, PodSpec } from '../shared/pod-parts.ts';
import type { Program } from './guarded-arguments.ts';

/** The template of the pods of a Deployment. */
export type PodTemplate = Partial<NonNullable<Deployment['spec']>['template']>;

function containersOf(present: Deployment | undefined): readonly Container[] {
  const { initContainers = [], containers = [] } = present?.spec?.template.spec ?? {};
  return [...initContainers, ...containers];
}

/** True when `found` contains everything in `given`; it may have more, since the API server fills in defaults. */
function isPart(given: unknown, found: unknown): boolean {
  if (typeof given !== 'object' || given === null) return given === found;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(given)) {
    return (
      Array.isArray(found) && given.length === found.length && given.every((one, index) => isPart(one, found[index]))
    );
  }
  const fields = new Map<string, unknown>(Object.entries(found));
  return Object.entries(given).every(([key, value]) => isPart(value, fields.get(key)));
}

/** True when the existing pods already have the author's additions: these were allowed when the pods were created. */
export function runsAlready(tcp: TenantControlPlane, present: Deployment | undefined): boolean {
  const { deployment } = tcp.spec.controlPlane;
  const {
    additionalInitContainers = [],
    additionalContainers = [],
    additionalVolumes = [],
    additionalVolumeMounts = {},
  } = deployment;
  const running = containersOf(present);
  const named = (name: string) => running.find((one) => one.name === name);
  // The API server writes quantities in another form than authors.
  const added = [...additionalInitContainers, ...additionalContainers].every((container) =>
    isPart({ ...container, resources: undefined }, { ...named(container.name), resources: undefined }),
  );
  const volumes = present?.spec?.template.spec?.volumes ?? [];
  const mounted = (['apiServer', 'controllerManager', 'scheduler'] as const).every((component) => {
    const found = named(names[component])?.volumeMounts ?? [];
    return (additionalVolumeMounts[component] ?? []).every((mount) => found.some((one) => isPart(mount, one)));
  });
  return added && mounted && additionalVolumes.every((volume) => volumes.some((one) => isPart(volume, one)));
}

/** The name of an image without its tag and digest: an upgrade changes these. */
function repositoryOf(image = ''): string {
  return image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}

/** What decides the rights of a pod, as the API server stores it. */
function powersOf({ metadata, spec }: PodTemplate): unknown {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const powers = {
    ofPod: spec?.securityContext ?? {},
    ofContainers: containers
      .map(({ name, image, securityContext = {} }) => ({ name, image: repositoryOf(image), securityContext }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ofAppArmor: Object.entries(metadata?.annotations ?? {})
      .filter(([name]) => name.includes('apparmor'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  };
  return JSON.parse(JSON.stringify(powers));
}

/**
 * True when new pods would have exactly the rights of the existing ones. A field that is removed or emptied may give more rights as
 * well as one that is added, and another image may use rights that were meant for the one before.
 */
export function keepsRights(made: PodTemplate, present: Deployment | undefined): boolean {
  return present !== undefined && isDeepStrictEqual(powersOf(made), powersOf(present.spec?.template ?? {}));
}

/** True for an argument that new pods do not get, or that existing pods already have. */
export function isNotNew(
  { made, present }: { readonly made: PodSpec | undefined; readonly present: Deployment | undefined },
  { container }: Program,
  argument: string,
): boolean {
  // A bare flag is passed on with its value.
  const passed = argument.includes('=') ? argument : `${argument}=true`;
  const isIn = (containers: readonly Container[]): boolean =>
    containers.find(({ name }) => name === container)?.args?.some((one) => one === argument || one === passed) === true;
  return !isIn([...(made?.initContainers ?? []), ...(made?.containers ?? [])]) || isIn(containersOf(present));
}
