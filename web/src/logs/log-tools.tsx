import { IconButton } from '../parts/icon-button.tsx'
import { Menu } from '../parts/menu.tsx'
import { changeLogSettings, FONT_SIZES, type LogSettings, type LogTimes } from './log-settings.ts'

const TIMES: { value: LogTimes; words: string }[] = [
  { value: 'off', words: 'No times' },
  { value: 'clock', words: 'Time of day' },
  { value: 'since', words: 'Since the start' },
]

/** How the log is drawn, and how to copy or download it. */
export function LogTools(props: {
  settings: LogSettings
  onJump: () => void
  onCopy: (hasColours: boolean) => void
  onDownload: () => void
}) {
  const { settings, onJump, onCopy, onDownload } = props
  return (
    <Menu
      groups={[
        [
          {
            words: 'Wrap long lines',
            shortcut: 'w',
            isChecked: settings.isWrapped,
            run: () => changeLogSettings({ isWrapped: !settings.isWrapped }),
          },
        ],
        TIMES.map(({ value, words }) => ({
          words,
          isChecked: settings.times === value,
          ...(value === 'off' ? { shortcut: 'Shift+t' } : {}),
          run: () => changeLogSettings({ times: value }),
        })),
        FONT_SIZES.map((size) => ({
          words: `${size} px`,
          isChecked: settings.fontPx === size,
          run: () => changeLogSettings({ fontPx: size }),
        })),
        [
          { words: 'Go to a time or byte', icon: 'arrow-right', shortcut: ':', run: onJump },
          { words: 'Copy as text', icon: 'copy', run: () => onCopy(false) },
          { words: 'Copy with colours', icon: 'copy', run: () => onCopy(true) },
          { words: 'Download', icon: 'download', run: onDownload },
        ],
      ]}
      trigger={<IconButton icon="settings" label="How the log is shown" size="small" />}
    />
  )
}
