import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']

/** What axe finds wrong with the page as it is: a line for each element, and none if all is well. */
export const axe = (page: Page): Promise<string[]> => violations(page, RULES)

/** The same of its colours alone: all that another theme changes. */
export const axeOnColours = (page: Page): Promise<string[]> => violations(page, ['color-contrast'])

async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(SOURCE)
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const found = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${help}: ${target.join(' ')} ${any[0]?.message ?? ''}`.trim()),
  )
}
