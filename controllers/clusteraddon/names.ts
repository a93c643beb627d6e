import { clusterStackGroup } from '../../api/clusterstack/names.ts';

/** On a ClusterAddon, or on an object of a chart, with value `true`: what has a field that cannot change is deleted and made anew. */
export const recreateAnnotation = `${clusterStackGroup}/recreate`;
