import { removeShared } from '../../e2e/framework/shared/remove-shared.ts';
import { sharedOwner } from '../../e2e/framework/shared/shared-names.ts';

/** jest calls this once after the tests of tier `e2e`: removes the clusters that they shared, unless somebody else goes on with them. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function tearDown(): Promise<void> {
  if (sharedOwner() !== process.pid) return;
  const left = await removeShared(process.pid);
  if (left.length > 0) throw new Error(`This is left of clusters that scenarios shared:\n${left.join('\n')}`);
}
