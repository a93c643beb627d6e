import { join } from 'node:path';
import { openDownloads } from './downloads.ts';
import { runGo } from './go/run-go.ts';
import { findGo } from './go/go-toolchain.ts';
import { sourceModules } from './pins.ts';
import { pinnedModules } from './resolve.ts';
import type { Progress } from './resolve.ts';
import { toolEnvironment } from './tool-environment.ts';
import type { ToolEnvironment } from './tool-environment.ts';

/**
 * The read-only folder with the source files of a pinned module, verified by go.sum: `core/config` and
 * `bootstrap/kubeadm/config` of Cluster API, `deploy/crds` of cert-manager, `config/crd` of Gateway API, `config` of Flux's controllers.
 * Copy before changing anything in it.
 * Throws an error with the remedy when there is no Go or the module cannot be fetched.
 */
export const moduleFolder = async (
  name: keyof typeof sourceModules,
  progress: Progress = () => undefined,
  environment: ToolEnvironment = toolEnvironment(),
): Promise<string> => {
  const { folder, module = folder, version } = sourceModules[name];
  await using downloads = openDownloads();
  const go = await findGo(environment, downloads, progress);
  if (go === undefined) {
    throw new Error(
      `The files of ${module} ${version} come as a Go module, and there is no recent go in PATH: install Go 1.26 or newer (https://go.dev/dl).`,
    );
  }
  const output = await runGo(go, join(pinnedModules, folder), ['mod', 'download', '-json', module]);
  const answer = JSON.parse(output) as { Dir?: string; Version?: string };
  if (answer.Dir === undefined || answer.Version !== version) {
    throw new Error(`go mod download gave ${answer.Version ?? 'no version'} of ${module}, pinned is ${version}`);
  }
  return answer.Dir;
};
