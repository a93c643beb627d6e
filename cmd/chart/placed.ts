/** Texts of the manifests in config/ and what stands for them in a chart. */
type Replacements = ReadonlyMap<string, string>;

/** Where the parts of a release are: names of config/ that are the release's own in a chart. */
export const releaseNames: Replacements = new Map([
  ['steward-system', '{{ .Release.Namespace }}'],
  ['steward-controller-manager', '{{ include "steward.serviceAccountName" . }}'],
  ['steward-webhook-service', '{{ include "steward.webhookServiceName" . }}'],
]);

/** The same manifest with each text that is one of the names replaced; parts of texts are left alone. */
export function placed<T>(value: T, names: Replacements = releaseNames): T {
  if (typeof value === 'string') return (names.get(value) ?? value) as T;
  if (Array.isArray(value)) return value.map((entry: unknown) => placed(entry, names)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, placed(entry as unknown, names)])) as T;
}
