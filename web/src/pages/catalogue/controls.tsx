import { useState } from 'react'
import { Button, type ButtonKind } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Field } from '../../parts/field.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Kbd } from '../../parts/kbd.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { Switch } from '../../parts/switch.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { Sample } from './sample.tsx'

const KINDS: ButtonKind[] = ['primary', 'plain', 'danger', 'quiet']

export function Controls() {
  return (
    <>
      <Sample name="Buttons">
        {KINDS.map((kind) => (
          <Button key={kind} kind={kind}>
            {kind === 'danger' ? 'Cancel task' : 'Approve'}
          </Button>
        ))}
        {KINDS.map((kind) => (
          <Button icon="check" key={kind} kind={kind} shortcut="a" size="small">
            Approve
          </Button>
        ))}
        <Button busy>Saving</Button>
        <Button disabledReason="Your key may not operate tasks.">Retry</Button>
        <IconButton icon="more" label="Actions" shortcut="." />
        <IconButton icon="pause" label="Pause" size="small" />
      </Sample>
      <Sample name="Keys, chips, progress">
        <Kbd keys="g i" />
        <Kbd keys="Mod+k" />
        <Chip>verified</Chip>
        <Chip hue="bad">loop suspected</Chip>
        <Chip onRemove={() => {}}>project: shop</Chip>
        <div className="w-40">
          <ProgressBar label="Progress" percent={62} />
        </div>
        <div className="w-40">
          <ProgressBar
            height={8}
            label="Tasks"
            parts={[
              { hue: 'done', percent: 60 },
              { hue: 'bad', percent: 6 },
              { hue: 'go', percent: 12 },
            ]}
            percent={78}
          />
        </div>
      </Sample>
      <Fields />
    </>
  )
}

function Fields() {
  const [view, setView] = useState<'kanban' | 'list'>('kanban')
  const [isOn, setIsOn] = useState(true)
  const [agent, setAgent] = useState('dev-1')
  return (
    <Sample name="Fields">
      <div className="grid w-full gap-4 sm:grid-cols-2">
        <Field hint="What should be true when it is done." label="Title">
          <TextInput defaultValue="Fix the login form" />
        </Field>
        <Field label="Folder" problem="There is no such folder.">
          <TextInput defaultValue="~/shopp" />
        </Field>
        <Field label="Agent">
          <Select
            onChange={setAgent}
            options={['dev-1', 'dev-2', 'any'].map((value) => ({ value, words: value }))}
            value={agent}
          />
        </Field>
        <Field hint="Notify when something waits." label="Notifications">
          <Switch checked={isOn} onChange={setIsOn} />
        </Field>
        <Field label="Description">
          <TextInput placeholder="Say why, and what to look at" rows={3} />
        </Field>
        <div>
          <Segmented
            label="View"
            onChange={setView}
            options={[
              { value: 'kanban', words: 'Kanban' },
              { value: 'list', words: 'List' },
            ]}
            value={view}
          />
        </div>
      </div>
    </Sample>
  )
}
