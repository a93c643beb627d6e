import { readFile, writeFile } from 'node:fs/promises';
import { ensurePackages } from './debian-packages.ts';

const clusterSettings = '/etc/postgresql-common/createcluster.conf';

/**
 * Installs Debian's PostgreSQL where it is missing. Debian makes and starts a server of its own with the package unless it is told
 * not to before: this tells it. Throws with the remedy when it cannot be had.
 */
export async function installPostgres(tell: (line: string) => void): Promise<void> {
  await ensurePackages(['postgresql-common'], tell);
  const settings = await readFile(clusterSettings, 'utf8');
  const quiet = settings.replace(/^#?\s*create_main_cluster\s*=.*$/m, 'create_main_cluster = false');
  if (quiet !== settings) await writeFile(clusterSettings, quiet);
  await ensurePackages(['postgresql', 'tzdata'], tell);
}
