import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { switchSingleKeys, useSingleKeys } from '../../keys/single-keys.ts'
import { PageLink } from '../../links.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Switch } from '../../parts/switch.tsx'
import { useShownWithin } from '../../parts/use-shown-within.ts'
import { chooseTheme, THEME_WORDS, THEMES, useTheme } from '../../theme/theme-choice.ts'
import { NotFound } from '../../things/not-found.tsx'
import { chooseEditor, EDITOR_WORDS, EDITORS, useEditor } from '../../things/task/editor-link.ts'
import { Browsers } from './browsers.tsx'
import { Keys } from './keys.tsx'
import { Limits } from './limits.tsx'
import { Models } from './models.tsx'
import { NotificationSettings } from './notifications.tsx'
import { Prices } from './prices.tsx'
import { Thresholds } from './thresholds.tsx'

interface Section {
  words: string
  text: string
  content: () => ReactNode
}

const SECTIONS: Record<string, Section> = {
  appearance: {
    words: 'Appearance and keyboard',
    text: 'Kept in this browser, for all workspaces.',
    content: () => (
      <div className="flex max-w-prose flex-col gap-6">
        <Appearance />
        <Keyboard />
        <FolderLinks />
      </div>
    ),
  },
  notifications: {
    words: 'Notifications',
    text: 'Kept in this browser, for all workspaces.',
    content: () => <NotificationSettings />,
  },
  keys: {
    words: 'Keys',
    text: 'Programs and people reach this workspace with keys.',
    content: () => <Keys />,
  },
  browsers: {
    words: 'Signed-in browsers',
    text: 'A browser that is signed in acts with the rights of its key.',
    content: () => <Browsers />,
  },
  limits: {
    words: 'Limits',
    text: 'What this workspace may use, and how long its agents may be silent.',
    content: () => <Limits />,
  },
  prices: {
    words: 'Prices',
    text: 'What the models cost that agents of this workspace use.',
    content: () => <Prices />,
  },
  models: {
    words: 'Models',
    text: 'Which models small, medium and large tasks get.',
    content: () => <Models />,
  },
  alerts: {
    words: 'Alerts',
    text: 'Above which figures alerts are raised.',
    content: () => <Thresholds />,
  },
}

/** What the user chooses for this browser, and what is true of the whole workspace. */
export function Settings() {
  const { section } = useParams({ from: '/settings/$section' })
  const tabs = useShownWithin<HTMLElement>('[aria-current]', section)
  const shown = Object.hasOwn(SECTIONS, section) ? SECTIONS[section] : undefined
  if (!shown) return <NotFound />
  return (
    <Page
      text={shown.text}
      title={section === 'appearance' ? 'Settings' : `${shown.words} · Settings`}
      heading="Settings"
    >
      <nav
        aria-label="Sections of the settings"
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line max-sm:-mx-4 max-sm:px-4"
        ref={tabs}
      >
        {Object.entries(SECTIONS).map(([name, { words }]) => (
          <PageLink
            aria-current={name === section ? 'page' : undefined}
            className="touchable focus-inside relative flex h-9 shrink-0 items-center px-3 text-row font-medium text-muted hover:text-ink aria-[current]:text-ink aria-[current]:after:absolute aria-[current]:after:inset-x-3 aria-[current]:after:bottom-0 aria-[current]:after:h-0.5 aria-[current]:after:bg-ink"
            key={name}
            to={`/settings/${name}`}
          >
            {words}
          </PageLink>
        ))}
      </nav>
      {shown.content()}
    </Page>
  )
}

function Appearance() {
  const theme = useTheme()
  return (
    <section className="rounded-card border border-line bg-raised p-4 shadow-card">
      <h2 className="mb-3 text-title font-semibold">Appearance</h2>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div>
          <p className="text-row font-medium">Theme</p>
          <p className="text-label text-muted">Light and dark show the same; contrast follows the system.</p>
        </div>
        <Segmented
          label="Theme"
          onChange={chooseTheme}
          options={THEMES.map((one) => ({ value: one, words: THEME_WORDS[one].words }))}
          size="usual"
          value={theme}
        />
      </div>
    </section>
  )
}

function Keyboard() {
  const isOn = useSingleKeys()
  return (
    <section className="rounded-card border border-line bg-raised p-4 shadow-card">
      <h2 className="mb-3 text-title font-semibold">Keyboard</h2>
      <div className="flex items-start justify-between gap-6">
        <div>
          <p className="text-row font-medium">Single-key shortcuts</p>
          <p className="text-label text-muted">
            Such as g then b for the board, or a to approve. They never act inside fields; keys with Ctrl
            always work. Press ? on any page to see its keys.
          </p>
        </div>
        <Switch checked={isOn} label="Single-key shortcuts" onChange={switchSingleKeys} />
      </div>
    </section>
  )
}

/** Links to the folders of runs, which open a program of this machine. */
function FolderLinks() {
  const editor = useEditor()
  return (
    <section className="rounded-card border border-line bg-raised p-4 shadow-card">
      <h2 className="mb-3 text-title font-semibold">Editor</h2>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div>
          <p className="text-row font-medium">Open folders in</p>
          <p className="text-label text-muted">
            Runs link to their folder while it is there. Only on the machine that Baton runs on.
          </p>
        </div>
        <Segmented
          label="Editor"
          onChange={chooseEditor}
          options={EDITORS.map((one) => ({ value: one, words: EDITOR_WORDS[one] }))}
          size="usual"
          value={editor}
        />
      </div>
    </section>
  )
}
