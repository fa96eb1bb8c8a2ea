import { IconButton } from '../parts/icon-button.tsx'
import { Menu } from '../parts/menu.tsx'
import { chooseTheme, THEME_WORDS, THEMES, useTheme } from '../theme/theme-choice.ts'

export function ThemeSwitch() {
  const theme = useTheme()
  return (
    <Menu
      groups={[
        THEMES.map((one) => ({
          ...THEME_WORDS[one],
          isChecked: one === theme,
          run: () => chooseTheme(one),
        })),
      ]}
      trigger={<IconButton icon={THEME_WORDS[theme].icon} label="Theme" />}
    />
  )
}
