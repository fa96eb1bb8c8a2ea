import { useSyncExternalStore } from 'react'
import type { IconName } from './icons.ts'

export const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

export const THEME_WORDS: Record<Theme, { words: string; icon: IconName }> = {
  system: { words: 'Match the system', icon: 'monitor' },
  light: { words: 'Light', icon: 'sun' },
  dark: { words: 'Dark', icon: 'moon' },
}

const NAME = 'baton-theme'
const YEAR_SECONDS = 31_536_000
const listeners = new Set<() => void>()

const isTheme = (text: string | null | undefined): text is Theme => THEMES.includes(text as Theme)

const chosen = (): Theme => {
  const { theme } = document.documentElement.dataset
  return isTheme(theme) ? theme : 'system'
}

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  for (const listener of listeners) listener()
}

/** The server reads the cookie and sends the page in this theme, so that the wrong one never flashes; storage notifies other tabs. */
export function chooseTheme(theme: Theme): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `${NAME}=${theme}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
  localStorage.setItem(NAME, theme)
  show(theme)
}

/** Takes over what was chosen in this browser, also where no server filled in the page. */
export function followTheme(): void {
  const kept = localStorage.getItem(NAME)
  if (isTheme(kept) && kept !== chosen()) show(kept)
  window.addEventListener('storage', ({ key, newValue }) => {
    if (key === NAME && isTheme(newValue)) show(newValue)
  })
}

export const useTheme = () =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, chosen)
