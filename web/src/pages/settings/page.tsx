import { useParams } from '@tanstack/react-router'
import { switchSingleKeys, useSingleKeys } from '../../keys/single-keys.ts'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Switch } from '../../parts/switch.tsx'
import { chooseTheme, THEME_WORDS, THEMES, useTheme } from '../../theme/theme-choice.ts'
import { NotFound } from '../../things/not-found.tsx'
import { chooseEditor, EDITOR_WORDS, EDITORS, useEditor } from '../../things/task/editor-link.ts'

/** What the user chooses for this browser. */
export function Settings() {
  const { section } = useParams({ from: '/settings/$section' })
  if (section !== 'appearance') return <NotFound />
  return (
    <Page text="Kept in this browser, for all workspaces." title="Settings">
      <div className="flex max-w-prose flex-col gap-6 pt-2">
        <Appearance />
        <Keyboard />
        <FolderLinks />
      </div>
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
