/** What axe, which knows how pages are to be made for everyone, finds in a page. */
import axe from 'axe-core';
import type { FrameLocator, Page } from 'playwright-core';

interface Asked {
  /** A selector; without it, the whole page. */
  readonly part?: string;
  /** Selectors of what is not looked at. */
  readonly exclude?: readonly string[];
  /** Names; without them, all rules. */
  readonly rules?: readonly string[];
}

/**
 * Returns each rule that is broken, with the elements that break it.
 *
 * axe runs in the frame alone: with the page around it, TensorBoard's, a look takes seconds.
 */
export async function violationsIn(
  frame: FrameLocator | Page,
  { part = 'html', exclude = [], rules = [] }: Asked = {},
): Promise<readonly string[]> {
  const root = frame.locator('html');
  if (!(await root.evaluate(() => 'axe' in window))) await root.evaluate(axe.source);
  const context = { include: [part], ...(exclude.length > 0 && { exclude: [...exclude] }) };
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(rules.length > 0 && { runOnly: [...rules] }),
  };
  const { violations } = await root.evaluate(
    (_, [within, how]) => (window as unknown as { axe: typeof axe }).axe.run(within, how),
    [context, options] as const,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
