import type { KubernetesClient } from '../../cluster/kubernetes-client.ts';

/** A text that must not leave the management cluster, and where it is kept there. */
export interface ConfidentialText {
  readonly from: string;
  readonly text: string;
}

const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]+?)-----END/g;

/** Passwords and tokens are shorter than this in no Secret of ours, and no ordinary word is longer. */
const shortestPassword = 16;

/**
 * What Secrets of these namespaces keep to themselves: the bodies of private keys, in PEM and within kubeconfigs, and values
 * that are one word, such as passwords and tokens.
 */
export async function confidentialTexts(
  client: Pick<KubernetesClient, 'list'>,
  namespaces: readonly string[],
): Promise<readonly ConfidentialText[]> {
  const found: ConfidentialText[] = [];
  for (const namespace of namespaces) {
    for (const { metadata, data } of await client.list('v1', 'Secret', namespace)) {
      for (const [key, value] of Object.entries(data ?? {})) {
        const from = `Secret ${namespace}/${metadata?.name ?? ''}, ${key}`;
        for (const text of confidentialIn(Buffer.from(value, 'base64').toString())) found.push({ from, text });
      }
    }
  }
  return found;
}

function confidentialIn(content: string): readonly string[] {
  const embedded = [...content.matchAll(/client-key-data: (\S+)/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
  const keys = [content, ...embedded].flatMap((text) =>
    // One line of a key is enough to know it by, however it is wrapped: the last whole one is no header.
    [...text.matchAll(privateKey)].map(([, body = '']) => body.trim().split('\n').at(-2) ?? body.trim()),
  );
  const isPassword = /^\S+$/.test(content) && content.length >= shortestPassword && content.length <= 200;
  return isPassword ? [...keys, content] : keys;
}

/** Which of the texts stand in any of these documents, also as base64 within it: `what, of where, in which`. */
export function findTexts(
  documents: ReadonlyMap<string, string>,
  texts: readonly ConfidentialText[],
): readonly string[] {
  const hits: string[] = [];
  for (const [name, document] of documents) {
    const decoded = [...document.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)].map(([word]) =>
      Buffer.from(word, 'base64').toString('latin1'),
    );
    const whole = [document, ...decoded].join('\n');
    for (const { from, text } of texts) if (whole.includes(text)) hits.push(`${name} has ${from}`);
  }
  return hits;
}
