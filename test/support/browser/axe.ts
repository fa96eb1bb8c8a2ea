import core from 'axe-core'
import type { Page } from 'playwright-core'

/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']

/** What axe finds wrong with the page as it is: a line for each element, and none if all is well. */
export async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(core.source)
  const run = `axe.run(document, ${JSON.stringify({ runOnly: RULES, resultTypes: ['violations'] })})`
  const { violations } = (await page.evaluate(run)) as core.AxeResults
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${help}: ${target.join(' ')} ${any[0]?.message ?? ''}`.trim()),
  )
}
