import { useShortcuts } from '../keys/shortcuts.ts'
import { changeLogSettings, LOG_TIMES, type LogSettings } from './log-settings.ts'

/** The keys of a raw log. */
export function useLogKeys(parts: {
  settings: LogSettings
  /** The search field has the focus. */
  isFinding: boolean
  onFind: () => void
  onHit: (isForward: boolean) => void
  onError: (isForward: boolean) => void
  onStart: () => void
  onEnd: () => void
  onJump: () => void
}): void {
  const { settings, onFind, onHit, onError, onStart, onEnd, onJump } = parts
  const nextTimes = LOG_TIMES[(LOG_TIMES.indexOf(settings.times) + 1) % LOG_TIMES.length]!
  useShortcuts('Log', {
    '/': { words: 'Find in the log', run: onFind },
    // The second time, while the field has the focus, the browser's own search opens.
    'Mod+f': {
      words: 'Find in the log',
      run: onFind,
      isOff: parts.isFinding,
    },
    n: { words: 'Next hit', run: () => onHit(true), repeats: true },
    'Shift+n': { words: 'Previous hit', run: () => onHit(false), repeats: true },
    e: { words: 'Next error', run: () => onError(true), repeats: true },
    'Shift+e': { words: 'Previous error', run: () => onError(false), repeats: true },
    Home: { words: 'Start of the log', run: onStart },
    End: { words: 'End of the log, and follow it', run: onEnd },
    ':': { words: 'Go to a time or byte', run: onJump },
    w: { words: 'Wrap long lines', run: () => changeLogSettings({ isWrapped: !settings.isWrapped }) },
    'Shift+t': {
      words: 'Times: off, clock, since the start',
      run: () => changeLogSettings({ times: nextTimes }),
    },
  })
}
