import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../../api/meta.ts';

const file = join(import.meta.dirname, '../../../config/webhook/webhooks.yaml');

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly service: { readonly path: string } };
}

/** The shipped validating webhooks of these names, which the API server finds at a port of this host. */
export async function shippedWebhooks(
  names: readonly string[],
  { port, authority }: { readonly port: number; readonly authority: string },
): Promise<Manifest> {
  const caBundle = Buffer.from(authority).toString('base64');
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const manifest = document.toJS() as Manifest & { readonly webhooks?: readonly Webhook[] };
    const found = (manifest.webhooks ?? []).filter(({ name }) => names.includes(name));
    if (found.length === 0) continue;
    const webhooks = found.map((webhook) => ({
      ...webhook,
      clientConfig: { url: `https://127.0.0.1:${port}${webhook.clientConfig.service.path}`, caBundle },
    }));
    return { ...manifest, webhooks };
  }
  throw new Error(`config/webhook has no webhook ${names.join(', ')}`);
}
