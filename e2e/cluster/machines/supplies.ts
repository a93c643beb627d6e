import { imageArchives } from '../../tools/images.ts';
import { resolveKubernetes } from '../../tools/kubernetes-releases.ts';
import { toolPin } from '../../tools/pins.ts';
import { resolveTools } from '../../tools/resolve.ts';
import { toolEnvironment } from '../../tools/tool-environment.ts';

/** Told what happens: the step and a detail for a person. */
export type Progress = (step: string, detail?: string) => void;

/** Files from which machines of one Kubernetes version are made. */
export interface Supplies {
  /** For example `v1.36.3`. */
  readonly kubernetes: string;
  /** Binaries for `/usr/local/bin`, by name. */
  readonly binaries: ReadonlyMap<string, string>;
  /** CNI plugins, by name. */
  readonly cniPlugins: ReadonlyMap<string, string>;
  /** Image archives that every machine knows from its start. */
  readonly images: readonly string[];
  readonly pauseImage: string;
  /** Where things may be kept between runs. */
  readonly cacheFolder: string;
}

const machineTools = [
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'runc',
  'kubeadm',
  'kubelet',
  'kubectl',
  'etcdctl',
] as const;

const cniTools = ['bridge', 'loopback', 'host-local', 'portmap', 'ptp'] as const;

const gathered = new Map<string, Promise<Supplies>>();

/**
 * Finds, downloads or builds what machines of this Kubernetes version need: a minor, a pinned version, or by default
 * the newest. Done once per process and version.
 */
export async function gatherSupplies(wanted?: string, progress: Progress = () => undefined): Promise<Supplies> {
  const kubernetes = resolveKubernetes(wanted ?? toolPin('kubeadm').source.version).version;
  const gathering = gathered.get(kubernetes) ?? gather(kubernetes, progress);
  gathered.set(kubernetes, gathering);
  try {
    return await gathering;
  } catch (error) {
    gathered.delete(kubernetes);
    throw error;
  }
}

async function gather(kubernetes: string, progress: Progress): Promise<Supplies> {
  progress('binaries', `of Kubernetes ${kubernetes}`);
  const options = {
    kubernetes,
    progress: (line: string) => {
      progress('binaries', line);
    },
  };
  const tools = await resolveTools([...machineTools, ...cniTools], options);
  const archives = await imageArchives(options);
  const pause = archives.find(({ name }) => name.includes('/pause:'));
  if (pause === undefined) throw new Error(`No image of pause is made for Kubernetes ${kubernetes}.`);
  return {
    kubernetes,
    binaries: new Map(machineTools.map((name) => [name, tools[name]])),
    cniPlugins: new Map(cniTools.map((name) => [name, tools[name]])),
    images: archives.map(({ path }) => path),
    pauseImage: pause.name,
    cacheFolder: toolEnvironment().cacheFolder,
  };
}
