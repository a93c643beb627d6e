import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { BundleFiles } from './bundle-files.ts';

/** Where logs are read from and how much of them. */
export interface LogReading {
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  readonly lines: number;
}

/** The most that is read of one container. */
const limitBytes = 8 * 1024 * 1024;

/** Adds the logs of these pods, and those of containers that were restarted before. `owner` begins the names of the pods. */
export async function collectLogs(
  files: BundleFiles,
  folder: string,
  { pods, owner }: { readonly pods: readonly Pod[]; readonly owner: string },
  { cluster, signal, lines }: LogReading,
): Promise<void> {
  for (const { metadata, spec, status } of pods) {
    const short = metadata.name.startsWith(`${owner}-`) ? metadata.name.slice(owner.length + 1) : metadata.name;
    const path = `/api/v1/namespaces/${metadata.namespace}/${kinds.Pod.plural}/${metadata.name}/log`;
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
      const query = `container=${encodeURIComponent(name)}&tailLines=${lines}&limitBytes=${limitBytes}&timestamps=true`;
      await files.attempt(`log of ${metadata.name}/${name}`, async () => {
        await files.addText(`${folder}/${short}.${name}.log`, await cluster.text(`${path}?${query}`, { signal }));
      });
      const restarts = statuses.find((one) => one.name === name)?.restartCount ?? 0;
      if (restarts === 0) continue;
      await files.attempt(`previous log of ${metadata.name}/${name}`, async () => {
        const text = await orEmpty(cluster.text(`${path}?${query}&previous=true`, { signal }));
        await files.addText(`${folder}/${short}.${name}.previous.log`, text);
      });
    }
  }
}

/** The kubelet may have removed the log of a container that ended. */
async function orEmpty(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) return '';
    throw error;
  }
}
