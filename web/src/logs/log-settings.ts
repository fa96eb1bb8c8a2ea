import { useSyncExternalStore } from 'react'

/** How logs are drawn on this machine. Remembered, and shared with other tabs over `storage` events. */

export const LOG_TIMES = ['off', 'clock', 'since'] as const
export type LogTimes = (typeof LOG_TIMES)[number]

export interface LogSettings {
  readonly isWrapped: boolean
  readonly times: LogTimes
  readonly fontPx: number
}

const KEY = 'baton.log'
export const FONT_SIZES = [12, 13, 14, 16] as const
const USUAL: LogSettings = { isWrapped: true, times: 'off', fontPx: 13 }

/** Stored text may come from another version, or be written by hand. */
export function settingsIn(text: string | null): LogSettings {
  try {
    const { isWrapped, times, fontPx } = JSON.parse(text ?? '{}') as Partial<
      Record<keyof LogSettings, unknown>
    >
    return {
      isWrapped: typeof isWrapped === 'boolean' ? isWrapped : USUAL.isWrapped,
      times: LOG_TIMES.find((one) => one === times) ?? USUAL.times,
      fontPx: FONT_SIZES.find((size) => size === fontPx) ?? USUAL.fontPx,
    }
  } catch {
    return USUAL
  }
}

const listeners = new Set<() => void>()
let read: { text: string | null; settings: LogSettings } = { text: null, settings: USUAL }

function current(): LogSettings {
  const text = localStorage.getItem(KEY)
  if (text !== read.text) read = { text, settings: settingsIn(text) }
  return read.settings
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

export function changeLogSettings(change: Partial<LogSettings>): void {
  localStorage.setItem(KEY, JSON.stringify({ ...current(), ...change }))
  for (const listener of listeners) listener()
}

export const useLogSettings = (): LogSettings => useSyncExternalStore(subscribe, current)
