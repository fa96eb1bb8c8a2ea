import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Popover } from '../../parts/popover.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { toast } from '../../parts/toasts.tsx'
import { Tooltip } from '../../parts/tooltip.tsx'
import { Sample } from './sample.tsx'

const nothing = () => {}

export function Layers() {
  const [open, setOpen] = useState<'dialog' | 'confirm' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Sample name="Layers">
        <Button onClick={() => setOpen('dialog')}>Dialog</Button>
        <Button onClick={() => setOpen('confirm')}>Confirm</Button>
        <Menu
          groups={[
            [
              { words: 'Pause', icon: 'pause', shortcut: 'p', run: nothing },
              { words: 'Retry', icon: 'retry', run: nothing, disabledReason: 'It is running.' },
            ],
            [{ words: 'Cancel task', icon: 'cancel', isDangerous: true, run: nothing }],
          ]}
          trigger={<Button>Menu</Button>}
        />
        <Popover label="Filter" trigger={<Button>Popover</Button>}>
          A filter
        </Popover>
        <Tooltip text="What it says">
          <Button>Tooltip</Button>
        </Tooltip>
        <Button
          onClick={() =>
            toast({ kind: 'done', title: 'B-014 is paused.', act: { words: 'Resume', run: nothing } })
          }
        >
          Toast
        </Button>
        <Button onClick={() => toast({ kind: 'bad', title: 'dev-2 finished it 2 s ago, attempt 4.' })}>
          Refusal
        </Button>
      </Sample>
      <Panels />
      <Dialog
        actions={<Button kind="primary">Create task</Button>}
        onClose={close}
        open={open === 'dialog'}
        text="It is queued at once."
        title="New task"
      >
        Content
      </Dialog>
      <ConfirmDialog
        confirm="Cancel task"
        isDangerous
        onClose={close}
        onConfirm={nothing}
        open={open === 'confirm'}
        reason="optional"
        text="dev-1 is stopped. What it wrote so far stays in its branch."
        title="Cancel B-014?"
      />
    </>
  )
}

function Panels() {
  const [tab, setTab] = useState<'attempts' | 'runs'>('attempts')
  return (
    <>
      <Sample name="Tabs">
        <Tabs
          className="w-full"
          label="Parts of a task"
          onChange={setTab}
          tabs={[
            { name: 'attempts', words: 'Attempts', count: 3 },
            { name: 'runs', words: 'Runs', count: 41 },
          ]}
          value={tab}
        >
          <p className="pt-3 text-row">{tab}</p>
        </Tabs>
      </Sample>
      <Sample name="Side panel">
        <div className="-m-4 flex h-60 flex-[1_0_100%] justify-end">
          <SidePanel onClose={nothing} onExpand={nothing} title="B-014 Fix the login form">
            Details
          </SidePanel>
        </div>
      </Sample>
    </>
  )
}
