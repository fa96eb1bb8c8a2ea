import type { Page } from 'playwright-core'

const MOST_STOPS = 200

/** What has the focus, as people hear it, and whether an outline around it or around its frame shows that; null: it was here before. */
const FOCUSED = `(() => {
  const one = document.activeElement
  if (!one || one === document.body || one.dataset.seen) return null
  one.dataset.seen = '1'
  const frames = [one, one.parentElement, one.parentElement?.parentElement].filter(Boolean)
  const isOutlined = ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
  const labels = [
    ...(one.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)) ?? []),
    ...(one.labels ?? []),
  ].map((label) => label?.innerText)
  const names = [one.getAttribute('aria-label'), ...labels, one.innerText, one.placeholder, one.title, one.tagName]
  return {
    name: names.find((name) => name?.trim()).trim().replace(/\\s+/g, ' '),
    isVisible: frames.some((frame) => [null, '::after'].some((part) => isOutlined(getComputedStyle(frame, part)))),
  }
})()`

/** Everything that Tab reaches, in its order; it fails where the focus cannot be seen. */
export async function tabThrough(page: Page): Promise<string[]> {
  const names: string[] = []
  while (names.length < MOST_STOPS) {
    await page.keyboard.press('Tab')
    const stop = (await page.evaluate(FOCUSED)) as { name: string; isVisible: boolean } | null
    if (!stop) return names
    if (!stop.isVisible) throw new Error(`The focus cannot be seen on “${stop.name}”.`)
    names.push(stop.name)
  }
  return names
}
