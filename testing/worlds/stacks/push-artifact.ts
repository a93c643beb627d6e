import { manifestType, sha256Of } from './stack-release.ts';
import type { PublishedRelease } from './published-release.ts';

/**
 * Puts a release into a registry without TLS, by nothing but the calls of the distribution specification: what reads it has no part in how it came there.
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md
 */
export async function pushArtifact(
  { host, path }: { readonly host: string; readonly path: string },
  { tag, files, manifest }: PublishedRelease,
): Promise<void> {
  const origin = `http://${host}`;
  for (const bytes of [Buffer.from('{}'), ...Object.values(files)]) {
    const begun = await expectStatus(202, `${origin}/v2/${path}/blobs/uploads/`, { method: 'POST' });
    const upload = new URL(begun.headers.get('location') ?? '', origin);
    upload.searchParams.set('digest', sha256Of(bytes));
    await expectStatus(201, upload.href, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    });
  }
  await expectStatus(201, `${origin}/v2/${path}/manifests/${tag}`, {
    method: 'PUT',
    headers: { 'content-type': manifestType },
    body: new Uint8Array(manifest),
  });
}

async function expectStatus(status: number, url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (answer.status !== status) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  await answer.body?.cancel();
  return answer;
}
