import { useEffect } from 'react'

/** The bar; with a dot when something waits for a person, hollow when what is shown may be old. */
function drawn(isWaiting: boolean, isOffline: boolean): string {
  // The tab bar of the browser does not follow the theme of the page: the system decides.
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const [ink, accent, ask, ground] = isDark
    ? ['#e8ebf0', '#8ab0ff', '#edc14d', '#0f1216']
    : ['#14181f', '#1044d6', '#955800', '#ffffff']
  const bar = (d: string, colour: string, width: number) =>
    `<path d="${d}" stroke="${colour}" stroke-width="${width}" stroke-linecap="round"/>`
  const [lower, upper] = ['M4 16l5.2-5.2', 'M10.8 9.2L16 4']
  const hollow = isOffline ? bar(lower, ground, 2.4) + bar(upper, ground, 2.4) : ''
  const dot = isWaiting
    ? `<circle cx="15" cy="15" r="4.5" fill="${ask}" stroke="${ground}" stroke-width="1.5"/>`
    : ''
  const body = bar(lower, ink, 4.5) + bar(upper, accent, 4.5) + hollow + dot
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none">${body}</svg>`)}`
}

export function useFavicon(isWaiting: boolean, isOffline: boolean): void {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link) link.href = drawn(isWaiting, isOffline)
  }, [isWaiting, isOffline])
}
